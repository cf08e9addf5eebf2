"""How files are written: one reader per format, all yielding records and faults."""
