"""The loop. Randomness is derived, steps are cut into shards, every save is whole or absent."""
