"""Token tagging: names, parts of speech and chunks, beside the most frequent tag of each word."""
