"""From settings to models: the only place in this room that sees a recipe."""
