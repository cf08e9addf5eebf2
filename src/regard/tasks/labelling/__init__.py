"""Labels and scores of texts and pairs of texts, beside a bag of n-grams."""
