"""The page to look at a broker with: three files, served as they are."""
