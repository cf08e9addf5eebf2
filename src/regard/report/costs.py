"""Costs of a run or a recipe: pages with curves, and the rows of a report."""

from collections.abc import Sequence

from regard import __version__
from regard.account.fit import format_bytes
from regard.account.layers import Size, compare_layers, crossovers, curves
from regard.account.observed import facts_of_model
from regard.account.summary import Account, account
from regard.account.time import Pace, forecast, format_duration
from regard.draw.chart import Curve, line_chart
from regard.draw.frame import page
from regard.draw.markup import tag, text
from regard.errors import UsageError
from regard.ledger.load import Facts
from regard.recipe.recipe import Recipe
from regard.run import Run

LENGTHS = [16, 32, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048]


def facts_of_run(run: Run) -> Facts:
    """Return the facts of a run."""
    return facts_of_model(run.model, run.tokenizer.size)


def pace_of_run(run: Run) -> Pace | None:
    """Return the speed of a run's own steps; None for an imported run."""
    training = run.metrics["training"]
    steps = training["steps"]
    if not steps:
        return None
    measured = [line for line in run.journal if line["event"] == "evaluation" and line["epochs"]]
    epoch = round(measured[-1]["step"] / measured[-1]["epochs"]) if measured else None
    return Pace(training["seconds"] / steps, training["tokens"] / steps, "steps of this run", epoch)


def run_facts(run: Run) -> list[tuple[str, str]]:
    """Return the rows of a report on a run's costs; none for a task without an account."""
    try:
        found = account(run.recipe, facts_of_run(run))
    except UsageError:  # a task without an account
        return []
    parts = ", ".join(f"{part} {number:,}" for part, number in found.parameters.parts.items())
    flops, memory = found.operations, found.memory
    length = found.load.length
    return [
        ("parameters", f"{found.parameters.total:,}: {parts}"),
        ("without heads", f"{found.parameters.body:,} parameters"),
        (
            "operations per step",
            f"{flops.step / 1e9:,.1f} GFLOP, forward {flops.forward / 1e9:,.1f}",
        ),
        (
            "attention scores",
            f"{found.shares[length]:.1%} of the forward pass at {length} tokens",
        ),
        (
            "memory per step",
            f"peak {format_bytes(memory.peak)}, activations {format_bytes(memory.activations)}",
        ),
    ]


def account_page(source: str, recipe: Recipe, found: Account, pace: Pace | None) -> str:
    """Draw an account as one self-contained page."""
    load, flops, memory = found.load, found.operations, found.memory
    summary = (
        f"A {found.task} model of {found.parameters.total:,} parameters. One step reads "
        f"{found.shards * load.rows:,} texts of {load.length} tokens, takes "
        f"{flops.step / 1e9:,.1f} GFLOP and a peak of {format_bytes(memory.peak)} in tensors."
    )
    if pace is not None:
        budget = forecast(recipe.training.budget, pace)
        step = format_duration(pace.step)
        summary += f" A step takes {step} on this machine ({pace.how})."
        if budget.seconds is not None:
            duration = format_duration(budget.seconds)
            summary += f" The budget of {recipe.training.budget} takes {duration}."
    size = Size(load.length, recipe.model.width)
    live = {**memory.at_peak, "peak": memory.peak}
    sizes = [(name, format_bytes(size)) for name, size in live.items() if size]
    parts = {
        "Parameters": _table("part", "parameters", found.parameters.parts),
        "Operations": _table("part", "FLOPs forward", flops.parts),
        "Memory": _rows(("what", "size"), sizes),
        "By length": tag("div", _shares(found), _layer_curves(size), class_="charts"),
        "Assumed": "".join(tag("p", text(one)) for one in found.facts.assumed),
    }
    return page(source, summary, parts, version=__version__, kind="Account")


def _shares(found: Account) -> str:
    """Draw the share of attention scores by length; nothing for a model without attention."""
    percent = [100 * share for share in found.shares.values()]
    line = Curve("attention scores", list(found.shares), percent)
    return _chart([line], "share of a forward pass, percent", "tokens") if any(percent) else ""


def layers_page(size: Size) -> str:
    """Draw the comparison of layers as one page."""
    n, d, k, r = size
    head = ("layer", "order", "multiply-adds", "parameters", "sequential", "longest path")
    rows = [
        (c.name, c.order, f"{c.macs:,}", f"{c.parameters:,}", f"{c.sequential:,}", f"{c.path:,}")
        for c in compare_layers(size)
    ]
    crossed = [
        f"{name}: " + (f"up to n = {at:,.0f}" if at is not None else "at no length")
        for name, at in crossovers(size).items()
    ]
    parts = {
        "Comparison": _rows(head, rows),
        "Against length": tag("div", _layer_curves(size), class_="charts"),
        "Self-attention has fewer multiply-adds than": "".join(
            tag("p", text(one)) for one in crossed
        ),
    }
    summary = f"One layer of each kind at n = {n:,}, d = {d:,}, k = {k}, r = {r}."
    return page("Layers compared", summary, parts, version=__version__, kind="Account")


def _layer_curves(size: Size) -> str:
    reach = sorted({*LENGTHS, size.length, 2 * size.width})
    shown = [length for length in reach if length <= max(4 * size.width, size.length)]
    lines = [
        Curve(name, shown, [macs / 1e6 for macs in found])
        for name, found in curves(size, shown).items()
        if name != "dilated convolution"
    ]
    title = f"million multiply-adds of one layer at width {size.width:,}"
    return _chart(lines, title, "tokens")


def _chart(lines: list[Curve], title: str, x_label: str) -> str:
    drawn = line_chart(lines, title=title, x_label=x_label, from_zero=True)
    return tag("div", drawn, class_="card")


def _table(name: str, number: str, parts: dict[str, int]) -> str:
    whole = sum(parts.values()) or 1
    rows = [(part, f"{size:,}", f"{size / whole:.1%}") for part, size in parts.items() if size]
    return _rows((name, number, "share"), rows)


def _rows(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    cells = (tag("tr", *(tag("td", text(cell)) for cell in row)) for row in rows)
    top = tag("thead", tag("tr", *(tag("th", text(name)) for name in head)))
    return tag("table", top, tag("tbody", *cells), class_="samples")
