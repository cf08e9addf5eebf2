"""The code of docs/python.md runs as it stands, one block after the other."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "python.md"


def test_every_block_of_the_page_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    lines = [f"A {word} film.\t{label}" for word, label in (("warm", "good"), ("dull", "bad"))]
    Path("texts.tsv").write_text(
        "\n".join(line.replace("A", f"{n}") for n in range(97) for line in lines)
    )
    Path("recipe.toml").write_text(
        'task = "classification"\ndata = { train = ["texts.tsv"], holdout = 0.1 }\n'
        "[text]\nvocabulary = 293\nmax_length = 23\n[model]\nwidth = 24\ndepth = 1\nfeed_forward = 29\n"
        "[training]\nbatch_tokens = 97\nevaluations = 1\n"
    )
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    names = {}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
    output = capsys.readouterr().out
    assert len(blocks) == 6 and "<regard.Model classification" in output and "'good'" in output
    assert names["weights"].shape[0] == 1 and names["weights"].shape[2] == names["weights"].shape[3]
    assert len(names["explained"].words) == len(names["explained"].attribution.scores[0])
