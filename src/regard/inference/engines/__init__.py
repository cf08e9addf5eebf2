"""Engines: other libraries that compute the answers of a run, several times faster."""
