"""``make demo``: the whole story in a few minutes, on text the package writes itself."""

import shutil
import sys
from itertools import islice
from pathlib import Path

from rich.table import Table

import regard
from regard.cli.progress import TrainingScreen
from regard.cli.screen import clean, console
from regard.data.worlds.scenes import Scene, draw_scenes
from regard.draw.label import strip_marks
from regard.draw.picture import Picture
from regard.draw.terminal import TerminalMap
from regard.errors import RegardError
from regard.explain.alignment import Agreement, GoldAlignment, measure_agreement
from regard.explain.trace import trace_translation
from regard.run import Run
from regard.run_files import RECIPE

FOLDER = Path("runs") / "demo"
CHOOSE_ON, MEASURE_ON = 100, 400  # sentences with gold alignments


def demo() -> None:
    """Train on the built-in scenes, show translations, score the attention, write the report."""
    if (FOLDER / RECIPE).exists() or not any(FOLDER.glob("*")):
        shutil.rmtree(FOLDER, ignore_errors=True)  # the demo's own folder, from the last time
    with TrainingScreen() as screen:
        run = regard.train("scenes", FOLDER, watcher=screen)
    measured = measure_agreement(run, _golds("valid", CHOOSE_ON), _golds("test", MEASURE_ON))
    _show_samples(run)
    _show_map(run, measured)
    screen.conclude(run)
    console().print(
        f"cross-attention agrees with the gold alignment on {measured.share:.1%} of "
        f"{measured.words:,} content words ({measured.map.name})",
        style="bold",
    )


def _golds(split: str, count: int) -> list[GoldAlignment]:
    return [_gold(scene) for scene in islice(draw_scenes(split), count)]


def _gold(scene: Scene) -> GoldAlignment:
    return GoldAlignment(scene.source, scene.target, scene.alignment, scene.content)


def _show_samples(run: Run) -> None:
    table = Table(title="Unseen sentences", show_lines=True)
    for heading in ("German", "English, the reference", "English, the model"):
        table.add_column(heading)
    for sample in run.metrics["test"]["samples"][:6]:
        table.add_row(clean(sample["asked"]), clean(sample["expected"]), clean(sample["answered"]))
    console().print(table)


def _show_map(run: Run, measured: Agreement) -> None:
    sample = run.metrics["test"]["samples"][0]
    trace = trace_translation(run, sample["asked"]).by_words()
    title = f"attention weights ({measured.map.name})"
    weights = measured.map.select(trace)[:-1, :-1]  # without the ends of both texts
    rows, columns = strip_marks(trace.target)[:-1], strip_marks(trace.source)[:-1]
    console().print(TerminalMap(Picture(rows, columns, weights, title)))


if __name__ == "__main__":
    try:
        demo()
    except RegardError as error:
        console(to_stderr=True).print(f"error: {error.problem}\n{error.remedy}")
        sys.exit(error.exit_code)
