"""pytest plugin of odradek (fixtures follow)."""
