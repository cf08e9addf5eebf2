"""Claims about attention: scores, heads, cross-attention, argmax."""
