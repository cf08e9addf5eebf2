"""Export targets: what fits, how a folder is written, and the target's own implementation."""
