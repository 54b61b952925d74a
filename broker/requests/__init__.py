"""One request: its route, context, faults and error answers."""
