"""Bodies, from settings: what every model is built on."""
