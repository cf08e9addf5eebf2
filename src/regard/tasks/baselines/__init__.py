"""The plain baselines of labelled tasks, and what answers together with a network."""
