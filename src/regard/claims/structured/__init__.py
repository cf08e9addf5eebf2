"""Claims about the structured self-attentive sentence embedding and its penalty."""
