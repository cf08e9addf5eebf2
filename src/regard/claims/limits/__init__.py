"""Claims about the limits of attention: PARITY, Dyck, FIRST."""
