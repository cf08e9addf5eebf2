"""The public names: load a run, or explain a text at once."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import regard
from regard.errors import UsageError

SOURCE = Path(__file__).parents[2] / "src"
TEXT = "the book and the plot are fine"


def test_a_text_is_explained_by_a_run_its_folder_or_its_model_alike(explained):
    run = explained("label")
    found = [
        regard.explain(given, TEXT, attribution="occlusion", head="1.mean")
        for given in (run, run.folder, str(run.folder))
    ]
    found.append(regard.load(run.folder).explain(TEXT, attribution="occlusion", head="1.mean"))
    assert [each.as_json() for each in found[1:]] == [found[0].as_json()] * 3
    assert found[0].answer in ("good", "bad")


@pytest.mark.parametrize(
    "order",
    [
        "import regard; regard.explain; import regard.explain.trace",
        "import regard.explain.trace; import regard",
    ],
)
def test_the_name_is_a_function_in_either_order_of_import(explained, order):
    code = f"{order}\nprint(regard.explain({str(explained('label').folder)!r}, {TEXT!r}).answer)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
    )
    assert done.stdout.strip() in ("good", "bad"), done.stderr


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path):
    with pytest.raises(UsageError, match="not a run folder"):
        regard.explain(tmp_path / "gone", TEXT)
