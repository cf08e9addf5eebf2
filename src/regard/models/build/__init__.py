"""Build models from settings: the only place in this room that imports the recipe."""
