"""What is known: the tools and the agents that a plan may name."""
