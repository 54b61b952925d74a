"""The languages of schemas: the canonical text of a schema, and whether it can read what another schema wrote."""
