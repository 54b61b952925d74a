"""The languages of schemas: what each one's text means, and whether one schema reads what another wrote."""
