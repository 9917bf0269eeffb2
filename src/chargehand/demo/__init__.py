"""Two example worlds, ready to run: `travel` and `support`. Each is a SQLite file with tools and playbooks for it."""
