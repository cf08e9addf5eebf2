"""Claims about position: order, sinusoids, and how positions are combined with states."""
