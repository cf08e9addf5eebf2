"""What the parts of a model cost, by formula: the entries that tasks put together."""
