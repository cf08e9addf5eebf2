"""The papers, wired from layers and nothing else. A model is a body and its heads."""
