"""Shared by the benchmarks: training that reuses finished runs, and means over seeds."""

import regard
from regard.run import Run
from regard.tasks.significance import interval


def train_or_load(recipe, folder):
    """Train, or load the run that an earlier call has finished."""
    return Run(folder) if (folder / "regard.json").exists() else regard.train(recipe, folder)


def format_interval(values, decimals=2):
    """Format the mean and the 95% interval over seeds (Student); one seed has no interval."""
    each = interval(values)
    half = "" if each.half is None else f" ± {each.half:.{decimals}f}"
    return f"{each.mean:.{decimals}f}{half}"
