"""Claims about attention: scores, heads, looks into another sequence, argmax."""
