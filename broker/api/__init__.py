"""The request handlers, a module for each family; `index` says which API is where."""
