"""The terminal face: one file per verb; parse, call, print; no logic."""
