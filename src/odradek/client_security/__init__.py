"""How odradek's own clients log in: TLS and SASL, from the options that the Java client and librdkafka take.

`ClientSecurity.parse` reads the options, `odradek.wire_client` uses the result. Nothing here knows a broker: it is
built on the protocol and the standard library. PKCS12 stores and GSSAPI need packages of their own, which are imported
when an option asks for them.
"""
