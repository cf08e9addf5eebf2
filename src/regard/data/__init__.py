"""Files to examples to batches: readers, checks, splits, the store of ids, worlds."""
