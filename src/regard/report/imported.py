"""The report of a run that was imported: what it is and where it comes from; it has no scores."""

from regard.draw.html import report_page
from regard.draw.page import ReportData
from regard.files import write_whole
from regard.recipe.tasks import POOLED
from regard.report.costs import run_facts
from regard.report.run import made_with
from regard.run import Run
from regard.run_files import REPORT


def write_report(run: Run) -> None:
    """Write ``report.html`` into an imported run that is not sealed yet."""
    write_whole(run.folder / REPORT, report_page(report_data(run)))


def report_data(run: Run) -> ReportData:
    """Gather what the page says."""
    facts, model = run.metrics["imported"], run.recipe.model
    return ReportData(
        title=run.folder.name,
        kind="Imported model",
        summary=(
            f"A {run.recipe.task} model of {facts['parameters']:,} parameters, imported from the "
            f"folder {facts['from']} ({facts['architecture']}). It was not trained here, and "
            "nothing was measured."
        ),
        recipe=[
            ("task", run.recipe.task),
            ("tokenizer", f"{run.recipe.text.tokenizer}, {run.tokenizer.size:,} tokens"),
            ("longest text", f"{run.recipe.text.max_length} tokens"),
            ("width", str(model.width)),
            ("blocks", str(model.depth)),
            ("position", model.position.kind),
            *([("pooling", model.head.pooling)] if run.recipe.task in POOLED else []),
        ],
        data=[
            ("SHA-256 of the weights", facts["weights"]),
            ("left out", ", ".join(facts["left_out"]) or "nothing"),
        ],
        cost=run_facts(run),
        environment=made_with(run),
        commands=[
            ("predict", f'regard predict {run.folder} "a text"'),
            ("explain", f'regard explain {run.folder} "a text"'),
            ("evaluate", f"regard evaluate {run.folder} --data FILE"),
            ("fine-tune it", f'in a recipe: [model.start] run = "{run.folder}"'),
        ],
        version=run.facts["regard"],
    )
