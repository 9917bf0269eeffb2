"""Other runtimes, given the same work. They live in an environment of their own: `make bench-peers`."""
