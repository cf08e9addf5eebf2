"""Dialects, each in a file of its own: the routes, and the shape of refusals."""
