"""Costs of the parts of a model, by formula, as entries that tasks combine."""
