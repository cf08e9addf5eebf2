"""``regard account``: what a recipe or a run costs, layers side by side, and totals explained."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from typer.core import TyperGroup

from regard.cli.account_screen import show_account, show_explanations, show_layers, show_papers
from regard.cli.options import AsJson, Page, Sets, check_new
from regard.cli.screen import print_json
from regard.cli.verbs import put
from regard.errors import RegardError, UsageError

if TYPE_CHECKING:
    from regard.account.time import Pace
    from regard.ledger.load import Facts, Load
    from regard.recipe.recipe import Recipe


class _OfByDefault(TyperGroup):
    """Let ``regard account scenes`` stand for ``regard account of scenes``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - typer's own
        if args and args[0] not in (*self.commands, "-h", "--help"):
            args = ["of", *args]
        return super().parse_args(ctx, args)


HELP = """\
Estimate what a recipe or a run costs before training it; each verb takes --json.

\b
Examples:
    regard account scenes
    regard account runs/mine --output cost.html
    regard account layers --length 512 --width 256
    regard account audit 65M --width 512 --depth 6 --decoder-depth 6
"""
app = typer.Typer(rich_markup_mode=None, cls=_OfByDefault, help=HELP)


def of(
    source: Annotated[
        str, typer.Argument(metavar="RECIPE_OR_RUN", help="A recipe, a shipped name, or a run.")
    ],
    sets: Sets = [],  # noqa: B006 - typer reads the default, nobody changes it
    length: Annotated[
        int | None, typer.Option(min=1, help="Tokens per text; by default as in the data.")
    ] = None,
    data: Annotated[
        bool, typer.Option("--data", help="Read all of the data, not just its beginning.")
    ] = False,
    timed: Annotated[
        bool, typer.Option("--time/--no-time", help="Take a few steps to time it.")
    ] = True,
    output: Page = None,
    as_json: AsJson = False,
) -> None:
    """Say what a recipe or a run costs: parameters by part, FLOPs, memory, time, and if it fits.

    Everything but the time follows from the recipe by formula, for texts as long as those the data
    begins with. The time comes from a few real steps on them; a run knows its own.

    Examples:
        regard account scenes
        regard account mine.toml --length 80 --set model.depth=6
        regard account transformer-base --no-time --json
        regard account runs/mine --output cost.html

    """
    from regard.account.fit import fit
    from regard.account.limits import memory_free
    from regard.account.summary import account
    from regard.account.time import as_json as time_as_json

    check_new(output, ".html")
    recipe, facts, load, pace = _read_facts(source, sets, Wanted(length, data, timed))
    accounted = account(recipe, facts, load)
    fitting = fit(recipe, facts, load, memory_free())
    if output is not None:
        from regard.report.costs import account_page

        output.write_text(account_page(source, recipe, accounted, pace), encoding="utf-8")
    if not as_json:
        show_account(source, recipe.training.budget, accounted, pace, fitting)
        return
    seconds = time_as_json(recipe.training.budget, pace) if pace else None
    print_json(
        {
            "source": source,
            **accounted.as_json(),
            "seconds": seconds,
            "fits": fitting.fits,
            "free": fitting.free,
            "needs": fitting.needs,
            "proposal": fitting.proposal,
        }
    )


def layers(
    length: Annotated[int, typer.Option("--length", "-n", help="Positions of a text.")] = 512,
    width: Annotated[int, typer.Option("--width", "-d", help="Size of a state.")] = 256,
    kernel: Annotated[int, typer.Option("--kernel", "-k", help="Kernel size.")] = 3,
    window: Annotated[
        int, typer.Option("--window", "-r", help="Window of restricted attention.")
    ] = 32,
    output: Page = None,
    as_json: AsJson = False,
) -> None:
    """Set attention, recurrence and convolution side by side: exact multiply-adds of one layer.

    Also which steps must wait for one another, how far the first position is from the last, and
    from which length on attention multiplies more than the others.

    Examples:
        regard account layers
        regard account layers -n 100 -d 512 -k 5 -r 16 --output layers.html

    """
    from regard.account.layers import Size, compare_layers, crossovers

    check_new(output, ".html")
    size = Size(length, width, kernel, window)
    costs, crossed = compare_layers(size), crossovers(size)
    if output is not None:
        from regard.report.costs import layers_page

        output.write_text(layers_page(size), encoding="utf-8")
    if as_json:
        rows = [cost._asdict() for cost in costs]
        print_json({**size._asdict(), "layers": rows, "crossovers": crossed})
    else:
        show_layers(size, costs, crossed)


def audit(
    total: Annotated[
        str,
        typer.Argument(help="A published total, such as 65M; by default the papers'."),
    ] = "",
    width: Annotated[int, typer.Option(help="Size of a state.")] = 512,
    depth: Annotated[int, typer.Option(help="Encoder blocks.")] = 6,
    decoder_depth: Annotated[int, typer.Option(help="Decoder blocks; 0 for none.")] = 0,
    shape: Annotated[
        str,
        typer.Option(
            metavar="NAME=N,...",
            help="Other published sizes: feed_forward, heads, key, value, positions.",
        ),
    ] = "",
    vocabulary: Annotated[
        int | None, typer.Option(min=1, help="The published size of the vocabulary.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say which choices explain a published number of parameters: tying, biases, vocabulary.

    Without a total: the audit of the Transformer paper's table 3, and of the laboratory's counts.

    Examples:
        regard account audit
        regard account audit 65M --decoder-depth 6 --vocabulary 37000
        regard account audit 110M --width 768 --depth 12 --shape heads=12,positions=512

    """
    from regard.account import forensics

    if not total:
        rows = forensics.audit_table_3()
        lab = [row for heads in (1, 2, 4, 8) for row in forensics.audit_lab(heads=heads)]
        common = forensics.common_vocabulary([row for row in rows if row.name != "big"])
        if as_json:
            table = {"rows": [row._asdict() for row in rows], "vocabulary": common}
            print_json({"table_3": table, "lab": [row._asdict() for row in lab]})
        else:
            show_papers(rows, common, lab)
        return
    published = _parse_published(total)
    printed = _shape(shape, width)
    positions = printed.pop("positions", 0)
    model = forensics.Shape(width, depth, decoder_depth=decoder_depth, **printed)
    found = forensics.explain_total(published, model, vocabulary=vocabulary, positions=positions)
    if as_json:
        choices = [{**one._asdict(), "choices": one.choices._asdict()} for one in found]
        print_json({"total": published.total, "explanations": choices})
    else:
        show_explanations(published, found)


class Wanted(NamedTuple):
    """How an account is to be found."""

    length: int | None
    data: bool
    timed: bool


def _read_facts(
    source: str, sets: list[str], wanted: Wanted
) -> tuple["Recipe", "Facts", "Load", "Pace | None"]:
    """Open a recipe or a run, and find out what it settles, its batches and how fast it goes."""
    from regard.account.facts import facts_of, load_of
    from regard.account.plan import ledger_of
    from regard.recipe.load import load

    if (Path(source) / "regard.json").is_file():
        if sets or wanted.data:
            raise UsageError(
                "--set and --data apply to recipes. Got a finished run.",
                f"Write: regard account {source}",
            )
        from regard.report.costs import facts_of_run, pace_of_run
        from regard.run import Run

        run = Run(Path(source))
        own = load_of(run.recipe, wanted.length)
        return run.recipe, facts_of_run(run), own, pace_of_run(run)
    recipe = load(source, sets)
    ledger_of(recipe, facts_of(recipe), load_of(recipe))  # refused before anything is read
    return _read_and_time(recipe, wanted)


def _read_and_time(
    recipe: "Recipe", wanted: Wanted
) -> tuple["Recipe", "Facts", "Load", "Pace | None"]:
    """Read the data or its beginning; without data, or for a given length, assume it."""
    from regard.account.facts import assume_data

    if wanted.data:
        from regard.training.step_timing import time_on_data

        return time_on_data(recipe)
    why = "the data is not there"
    if wanted.length is None and _is_there(recipe):
        from regard.training.step_timing import time_on_sample

        try:
            return time_on_sample(recipe, timed=wanted.timed)
        except (RegardError, OSError):
            why = "the data cannot be read"
    facts, load = assume_data(recipe, wanted.length, why)
    if not wanted.timed:
        return recipe, facts, load, None
    from regard.training.step_timing import time_on_synthetic_text

    return recipe, facts, load, time_on_synthetic_text(recipe, facts, load)


def _is_there(recipe: "Recipe") -> bool:
    """Return whether the training data exists, without importing torch."""
    from regard.data.source import WORLD

    return all(
        name.startswith(WORLD) or Path(name).expanduser().exists() for name in recipe.data.train
    )


def _parse_published(total: str) -> Any:  # noqa: ANN401 - opened only when called
    from regard.account.forensics import Published

    text = total.strip().replace(",", "").replace("_", "")
    units = {"": 1, "k": 10**3, "M": 10**6, "B": 10**9}
    unit = text[-1:] if text[-1:] in units else ""
    number = text.removesuffix(unit)
    whole, _, after = number.partition(".")
    if not (whole.isdecimal() and (after.isdecimal() or not after)) or (after and not unit):
        raise UsageError(
            f'a total is a number of parameters; got "{total}".', "Write 65M, 1.5B or 110000000."
        )
    size = units[unit] // 10 ** len(after)
    return Published(round(float(number) * units[unit]), max(1, size))


def _shape(given: str, width: int) -> dict[str, int]:
    """Read ``heads=8,feed_forward=2048``; what is left out is the Transformer's habit."""
    shape = {"feed_forward": 4 * width, "heads": max(1, width // 64)}
    for pair in filter(None, (part.strip() for part in given.split(","))):
        name, _, number = pair.partition("=")
        known = (*shape, "key", "value", "positions")
        if name not in known or not number.isdecimal():
            raise UsageError(
                f'--shape takes names and numbers; got "{pair}".',
                f"The names are {', '.join(dict.fromkeys(known))}: --shape heads=8,key=64.",
            )
        shape[name] = int(number)
    return shape


put(app, "of", of, needy=True)
put(app, "layers", layers)
put(app, "audit", audit)
