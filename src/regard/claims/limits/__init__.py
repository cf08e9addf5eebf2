"""Claims about what attention cannot do, or not easily: PARITY, Dyck, FIRST."""
