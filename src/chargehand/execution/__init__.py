"""Executing a step: choosing the tool, calling it in isolation, handling its errors, validating what it gives."""
