"""Hold'em spots solved on every board without card abstraction: solver, solutions, and looking at them."""
