"""Claims of courses and papers: each statement with measured figures and a verdict."""
