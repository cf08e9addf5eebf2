"""Pictures from plain data: terminal, SVG and HTML. No torch, no other room, no network."""
