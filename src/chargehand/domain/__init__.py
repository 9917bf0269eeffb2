"""The words of the flow: goals, plans, steps, expressions. Frozen data and pure functions; no I/O, clock or dice."""
