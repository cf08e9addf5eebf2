"""Asking a trained model."""
