"""The benchmark of the speed budget. `make bench` runs it; docs/benchmarks.md is what it found."""
