"""Mechanisms to play with: small computations with controls, chapter by chapter, for the studio."""
