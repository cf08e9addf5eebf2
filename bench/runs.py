"""What the benches share: runs that an earlier call has finished, and a mean over seeds."""

import regard
from regard.run import Run
from regard.tasks.significance import interval


def trained(recipe, folder):
    """Train, or take what an earlier call of a bench has finished."""
    return Run(folder) if (folder / "regard.json").exists() else regard.train(recipe, folder)


def spread(values, decimals=2):
    """Write the mean, and the 95% interval over seeds (Student); one seed has none."""
    each = interval(values)
    half = "" if each.half is None else f" ± {each.half:.{decimals}f}"
    return f"{each.mean:.{decimals}f}{half}"
