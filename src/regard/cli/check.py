"""``regard check``: look at recipe and data before any compute."""
