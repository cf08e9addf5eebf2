"""What it costs: parameters, operations, memory, time; by formula, checked by measurement."""
