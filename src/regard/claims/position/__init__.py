"""Claims about position: order, waves, how a position joins a state."""
