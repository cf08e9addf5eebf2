"""The Language Model Evaluation Harness finds the loss of `regard evaluate`, over HTTP."""

import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

from regard.cli.main import main
from regard.serve.app import make_app

from .conftest import KEEPSAKES, listen

GUIDE = Path(__file__).parents[2] / "docs" / "serving.md"
NAME = "language-modelling"


@pytest.mark.slow
def test_the_stock_harness_measures_what_evaluate_does(engine, call, tmp_path, capsys):
    pytest.importorskip("lm_eval")
    rng = random.Random(3)
    text = " ".join(rng.choices("abcdefghijkm", k=300))
    (tmp_path / "held-out.txt").write_text(text)
    (tmp_path / "texts.jsonl").write_text(json.dumps({"text": text}) + "\n")
    task, command = re.findall(
        r"```(?:yaml)?\n((?:task: mine|lm_eval).*?)```", GUIDE.read_text(), re.S
    )
    (tmp_path / "mine.yaml").write_text(task)
    with listen(make_app(engine), call) as address:
        asked = command.replace("model=tales", f"model={NAME}")
        asked = asked.replace("http://localhost:8000", address).replace("\\\n", " ").split()
        done = subprocess.run(
            [Path(sys.executable).with_name("lm_eval"), *asked[1:], "--output_path", "found"],
            cwd=tmp_path,
            env={**os.environ, "HF_HOME": str(tmp_path / "cache"), "HF_DATASETS_OFFLINE": "1"},
            capture_output=True,
            text=True,
        )
    assert done.returncode == 0, done.stderr[-2000:]
    (results,) = (tmp_path / "found").rglob("results*.json")
    found = json.loads(results.read_text())["results"]["mine"]["bits_per_byte,none"]
    run = str(KEEPSAKES / NAME)
    assert main(["evaluate", run, "--data", str(tmp_path / "held-out.txt"), "--json"]) == 0
    own = json.loads(capsys.readouterr().out)["metrics"]["bits_per_byte"]
    assert found == pytest.approx(own, rel=1e-6)
