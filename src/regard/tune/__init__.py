"""Search over settings: successive halving, from a recipe to a better one."""
