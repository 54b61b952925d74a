"""Who may connect and what they may do: principals, TLS, SASL, access control, quotas."""
