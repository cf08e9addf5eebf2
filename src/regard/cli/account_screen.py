"""What ``regard account`` prints: tables with a bar for every share."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from regard.cli.screen import clean, print_rows, print_text

if TYPE_CHECKING:
    from regard.account.fit import Fit
    from regard.account.forensics import AuditRow, LabCount, Published, TotalExplanation
    from regard.account.layers import LayerCost, Size
    from regard.account.summary import Account
    from regard.account.time import Pace

BAR = 24
PREFIXES = ((10**18, "E"), (10**15, "P"), (10**12, "T"), (10**9, "G"), (10**6, "M"), (10**3, "k"))


def show_account(
    source: str, budget: str, account: "Account", pace: "Pace | None", fit: "Fit"
) -> None:
    """Print the account of a recipe or a run."""
    parameters, flops = account.parameters, account.operations
    print_text(clean(f"{source}: {account.task}, {parameters.total:,} parameters"))
    print_text("")
    print_text(f"parameters {parameters.total:,}, without heads {parameters.body:,}")
    _bars(parameters.parts, "{:>15,}")
    print_text("")
    load = account.load
    shards = f" in {account.shards} shards" if account.shards > 1 else ""
    print_text(
        f"operations per step {format_si(flops.step)}FLOP: forward {format_si(flops.forward)}, "
        f"backward {format_si(flops.backward)}, optimizer {format_si(flops.optimizer)}"
    )
    print_text(
        f"    {account.shards * load.rows:,} texts of {load.length} tokens{shards}; forward:"
    )
    _bars(flops.parts, "{:>15}", format_si)
    shares = ", ".join(f"{share:.1%} at {n:,}" for n, share in account.shares.items() if n >= 64)
    print_text(f"    attention scores, by length of text: {shares}")
    print_text("")
    _memory(account)
    print_text("")
    if pace is not None:
        _time(budget, pace)
    print_text(fit.describe())
    if account.facts.assumed:
        print_text(f"assumed: {'; '.join(account.facts.assumed)}")


def _memory(account: "Account") -> None:
    from regard.account.fit import format_bytes

    memory = account.memory
    print_text(f"memory per step: peak of {format_bytes(memory.peak)} in tensors")
    _bars({name: size for name, size in memory.at_peak.items() if size}, "{:>15}", format_bytes)


def _time(budget: str, pace: "Pace") -> None:
    from regard.account.time import forecast, format_duration

    found = forecast(budget, pace)
    rate = pace.tokens / pace.step
    step = format_duration(pace.step)
    print_text(f"time per step {step}, {rate:,.0f} tokens per second ({pace.how})")
    if found.steps is None or found.seconds is None:
        print_text(f"    the budget of {budget}: read all of the data with --data to time it")
    else:
        duration = format_duration(found.seconds)
        print_text(f"    the budget of {budget}: {found.steps:,} steps, {duration}")


def _bars(parts: Mapping[str, int], form: str, write: object = None) -> None:
    whole = sum(parts.values()) or 1
    width = max((len(name) for name in parts), default=0)
    for name, number in parts.items():
        shown = form.format(write(number) if callable(write) else number)
        bar = "█" * round(BAR * number / whole) or "▏"
        print_text(f"    {name:<{width}} {shown}  {number / whole:>6.1%}  {bar}")


def format_si(number: int | float) -> str:
    """Format a large number with an SI prefix: 16.1 G."""
    for size, prefix in PREFIXES:
        if number >= size:
            return f"{number / size:.3g} {prefix}"
    return f"{number:.3g} "


def show_layers(
    size: "Size", costs: Sequence["LayerCost"], crossed: Mapping[str, float | None]
) -> None:
    """Print the comparison of layers."""
    n, d, k, r = size
    print_text(f"one layer at n = {n:,}, d = {d:,}, k = {k}, r = {r}")
    print_text("")
    most = max(cost.macs for cost in costs)
    head = ("layer", "order", "multiply-adds", "parameters", "sequential", "path")
    print_text(f"{head[0]:<21} {head[1]:<8}{head[2]:>15}{head[3]:>12}{head[4]:>12}{head[5]:>7}")
    for cost in costs:
        bar = "█" * round(12 * cost.macs / most) or "▏"
        print_text(
            f"{cost.name:<21} {cost.order:<8}{cost.macs:>15,}{cost.parameters:>12,}"
            f"{cost.sequential:>12,}{cost.path:>7,}  {bar}"
        )
    print_text("")
    print_text("self-attention has fewer multiply-adds than")
    rows = [
        (f"    {name}", f"up to n = {at:,.0f}" if at is not None else "at no length")
        for name, at in crossed.items()
    ]
    print_rows(rows)


def show_explanations(published: "Published", found: Sequence["TotalExplanation"]) -> None:
    """Print which choices explain a total."""
    low, high = published.bounds
    print_text(f"published {published.total:,}: between {low:,.0f} and {high:,.0f}")
    print_text("")
    for one in found:
        first, last = one.vocabulary
        implied = f"{first:,} to {last:,} tokens" if 0 < first <= last else "none"
        total = "" if one.total is None else f"{one.total:>13,}  "
        mark = "explains it  " if one.explains(published) else " " * 13
        mark = mark if one.total is not None else ""
        print_text(f"{mark}{total}{one.choices.describe():<64} vocabulary: {implied}")
    print_text("")
    print_text("An inference from arithmetic: the authors may have made other choices that fit.")


def show_papers(
    rows: Sequence["AuditRow"], common: tuple[int, int] | None, lab: Sequence["LabCount"]
) -> None:
    """Print the audits of the papers."""
    print_text("The Transformer paper's table 3: one shared table of 37,000, no attention biases")
    print_text("")
    print_text(f"{'row':<13}{'printed':>9}{'counted':>14}   vocabularies that round to it")
    for row in rows:
        first, last = row.vocabulary
        print_text(
            f"{row.name:<13}{row.printed // 10**6:>8}M{row.counted:>14,}   {first:,} to {last:,}"
        )
    print_text("")
    if common:
        inside = sum(row.name != "big" for row in rows)
        print_text(
            f"All {inside} rows except the big model agree on a vocabulary of {common[0]:,} to "
            f"{common[1]:,} tokens."
        )
    print_text("An inference: the paper does not say so.")
    print_text("")
    print_text("The laboratory's models: 50,001 tokens, width 200, 4 layers")
    print_text("")
    print_text(f"{'model':<17}{'heads':>6}{'document':>14}{'exact':>14}{'too many':>11}")
    for one in lab:
        off = one.document - one.exact
        print_text(f"{one.name:<17}{one.heads:>6}{one.document:>14,}{one.exact:>14,}{off:>+11,}")
    print_text("")
    print_text("The document multiplies the projections by the heads; heads share them.")
