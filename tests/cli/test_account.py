import json
import subprocess
import sys
from pathlib import Path

import pytest

from regard.cli.main import main

SOURCE = Path(__file__).parents[2] / "src"


def read_json(capsys, *words):
    assert main(["account", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("name", "part", "number"),
    [
        ("transformer-base", "total", 63_045_632),
        ("lab-language-model", "total", 21_018_401),
        ("lab-sentiment", "total", 10_968_602),
        ("bert-tiny", "body", 4_385_920),
        ("bert-base", "body", 109_482_240),
        ("gpt2", "total", 124_439_808),
    ],
)
def test_the_papers_models_are_counted_by_name(capsys, name, part, number):
    found = read_json(capsys, name, "--no-time")
    assert found["parameters"][part] == number
    assert sum(found["parameters"]["parts"].values()) == found["parameters"]["total"]
    assert found["seconds"] is None


def test_scripts_find_the_names_they_rely_on(capsys):
    sets = ["--set", "model.width=16", "--set", "model.feed_forward=16"]
    sets += ["--set", "training.batch_tokens=256", "--set", "text.vocabulary=300"]
    found = read_json(capsys, "scenes", "--length", "29", *sets)
    assert found["flops"]["step"] > found["flops"]["forward"] > 0
    assert found["memory"]["peak"] > found["memory"]["activations"] > 0
    assert found["seconds"]["step"] > 0
    assert found["seconds"]["steps"] == int(120 / found["seconds"]["step"])
    assert found["fits"] is True


def test_a_length_changes_the_operations_and_not_the_parameters(capsys):
    short, long = (read_json(capsys, "scenes", "--no-time", "--length", n) for n in ("16", "128"))
    assert short["parameters"] == long["parameters"]
    assert short["rows"] == 8 * long["rows"]
    assert short["flops"]["parts"]["scores"] < long["flops"]["parts"]["scores"]


def test_people_see_shares_and_whether_it_fits(capsys):
    assert main(["account", "scenes", "--no-time", "--length", "29"]) == 0
    shown = capsys.readouterr().out
    assert "1,043,968 parameters" in shown
    assert "█" in shown
    assert "fits:" in shown
    assert "assumed: text.vocabulary" in shown


def test_layers_stand_side_by_side(capsys):
    found = read_json(capsys, "layers", "-n", "256", "-d", "128", "-k", "3", "-r", "16")
    by_name = {one["name"]: one for one in found["layers"]}
    assert by_name["self-attention"]["macs"] == by_name["LSTM"]["macs"] == 8 * 256 * 128**2
    assert found["crossovers"]["LSTM"] == 256
    assert main(["account", "layers"]) == 0
    assert "up to n = 512" in capsys.readouterr().out


def test_the_audit_repeats_what_is_known_of_the_papers(capsys):
    found = read_json(capsys, "audit")
    assert found["table_3"]["vocabulary"] == [41_004, 41_208]
    assert found["lab"][2]["exact"] == 21_018_401
    assert main(["account", "audit"]) == 0
    shown = capsys.readouterr().out
    assert "41,004 to 41,208" in shown
    assert "An inference" in shown


def test_a_published_total_is_explained(capsys):
    words = ["audit", "63045632", "--decoder-depth", "6", "--vocabulary", "37000"]
    found = read_json(capsys, *words)
    assert found["explanations"][0]["choices"]["tables"] == 1
    assert found["explanations"][0]["choices"]["attention_biases"] is False
    assert main(["account", *words]) == 0
    assert "explains it" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nowhere"], "neither a file nor a shipped recipe"),
        (["scenes", "--length", "0"], "--length"),
        (["scenes", "--set", "model.width=7"], "divide"),
        (["layers", "--kernel", "1"], "--kernel must be at least 2"),
        (["audit", "many"], "a total is a number"),
        (["audit", "65M", "--shape", "hedas=8"], "--shape takes names"),
        (["audit", "65M", "--width", "500"], "heads must divide width"),
    ],
)
def test_a_wrong_call_is_two_lines(capsys, words, said):
    assert main(["account", *words]) == 2
    shown = capsys.readouterr()
    assert said in shown.err
    assert len(shown.err.splitlines()) == 2
    assert shown.out == ""


def test_a_task_without_an_account_says_so_before_it_reads(capsys, tmp_path):
    (tmp_path / "texts.jsonl").write_text('{"text": "a good film"}\n' * 5)
    files = [f'data.{name}=["{tmp_path / "texts.jsonl"}"]' for name in ("train", "valid")]
    sets = [word for one in [*files, "data.labelled=[]"] for word in ("--set", one)]
    assert main(["account", "reviews-vectors", *sets]) == 2
    problem, remedy = capsys.readouterr().err.splitlines()
    assert "no account yet" in problem and "classification" in remedy


def test_nothing_is_overwritten(capsys, tmp_path):
    page = tmp_path / "page.html"
    page.write_text("mine")
    assert main(["account", "scenes", "--no-time", "--output", str(page)]) == 2
    assert page.read_text() == "mine"
    assert "exists" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["scenes", "--no-time", "--length", "29"], ["layers"]])
def test_a_page_has_curves_and_calls_nobody(tmp_path, words):
    page = tmp_path / "page.html"
    assert main(["account", *words, "--output", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    assert "<polyline" in text
    assert "self-attention" in text
    assert "://" not in text.replace("http://www.w3.org/2000/svg", "")
    assert "<script" not in text


@pytest.mark.parametrize(("recipe", "drawn"), [("lab-sentiment", True), ("self-attentive", False)])
def test_attentions_share_is_drawn_where_there_is_attention(tmp_path, recipe, drawn):
    page = tmp_path / "page.html"
    assert main(["account", recipe, "--no-time", "--length", "17", "--output", str(page)]) == 0
    assert ("share of a forward pass" in page.read_text(encoding="utf-8")) == drawn


def test_formulas_do_not_wait_for_torch():
    code = (
        "import sys\nfrom regard.cli.main import main\n"
        "main(['account', 'gpt2', '--no-time', '--json'])\n"
        "sys.exit('torch' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(SOURCE), "PATH": ""},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_lengths_are_those_of_the_first_texts(capsys):
    found = read_json(capsys, "self-attentive", "--no-time")
    assert any(words.startswith("lengths as in all 6,000 texts") for words in found["assumed"])
    assert not any("vocabulary" in words for words in found["assumed"])
    assert found["vocabulary"] < 2000
    assert found["length"] < 256
    other = read_json(capsys, "self-attentive", "--no-time", "--length", "97")
    assert (other["length"], other["vocabulary"]) == (97, 2000)
    assert not any("lengths" in words for words in other["assumed"])


def test_where_there_is_no_data_it_says_so(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert (
        "texts of 256 tokens, since the data is not there"
        in (read_json(capsys, "reviews-scratch", "--no-time")["assumed"])
    )
    (tmp_path / "broken.jsonl").write_text("{")
    broken = ["--set", 'data.train=["broken.jsonl"]']
    assert (
        "texts of 256 tokens, since the data cannot be read"
        in (read_json(capsys, "reviews-scratch", "--no-time", *broken)["assumed"])
    )
    assert read_json(capsys, "gpt2", "--no-time")["length"] == 1024
