"""Shipped fakes and suites, for tests of applications and of adapters."""
