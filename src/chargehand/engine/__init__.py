"""Carrying a plan out: what to do next is decided by a pure function, and done by a short loop."""
