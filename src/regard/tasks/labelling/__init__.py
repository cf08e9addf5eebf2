"""Labels and scores of texts and pairs of texts, with an n-gram baseline."""
