"""What the papers say: every statement beside the figure that was measured, and its verdict."""
