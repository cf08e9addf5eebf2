"""From probabilities to a sequence. It handles ids, never text, and imports no other room."""
