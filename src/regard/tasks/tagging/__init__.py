"""Token tagging: names, parts of speech, chunks; the baseline is each word's most frequent tag."""
