"""What a trained model looked at: traces, readings of them, and pictures."""
