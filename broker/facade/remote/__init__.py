"""A broker that is controlled over HTTP: the table of operations, values as JSON, and the client."""
