"""File formats: one reader per format, all yielding records and faults."""
