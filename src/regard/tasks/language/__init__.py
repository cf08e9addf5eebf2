"""Language modelling: what a model of running text answers."""
