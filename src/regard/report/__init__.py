"""Pages and cards about runs."""
