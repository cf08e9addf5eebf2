"""The architectures, built from layers. A model is a body and its heads."""
