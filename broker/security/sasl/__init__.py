"""SASL log-ins on a listener: PLAIN, SCRAM, OAUTHBEARER and GSSAPI.

The bytes of a client's messages enter the `SaslServer` of a mechanism; its answers leave, and at the end a principal.
`credentials` has the users and tokens of the metadata log.
"""
