"""Checking a plan before anything in it can have an effect: pure functions from a plan to diagnostics."""
