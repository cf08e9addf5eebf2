"""Models that learn from plain text before anyone tells them a label."""
