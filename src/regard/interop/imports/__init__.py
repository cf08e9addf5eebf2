"""Import of the architectures that can be exported: each map of tensors is used in reverse."""
