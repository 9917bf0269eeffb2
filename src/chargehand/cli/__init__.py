"""The command line: commands, and what a person sees."""
