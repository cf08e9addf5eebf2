"""Claims about learning from plain text: masked words, next sentences, next words."""
