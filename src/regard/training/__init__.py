"""Training: derived randomness, steps in shards, atomic checkpoints, a loop to a budget."""
