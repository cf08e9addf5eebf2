"""Claims about pretraining: masked words, next sentences, next words."""
