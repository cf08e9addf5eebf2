"""Own documents in, a searcher out; and every wrong turn."""

import json
import shutil

import numpy as np
import pytest
from safetensors import SafetensorError

from regard.cli.main import main

RECIPE = """
task = "retrieval"
[data]
train = ["corpus"]
test = ["corpus"]
holdout = 0.2
[text]
vocabulary = 300
max_length = 32
lowercase = true
[model]
width = 16
depth = 1
feed_forward = 23
dropout = 0.0
position = { kind = "rotary" }
mixer = { kind = "attention", heads = 2 }
[retrieval]
query_length = [2, 5]
document_length = [5, 20]
start = "topics"
term_weights = "learned"
[training]
budget = "12 steps"
batch_tokens = 400
evaluations = 2
checkpoints = 3
threads = 1
optimizer = { kind = "adamw", rate = 0.003 }
"""
TOPICS = {
    "cooking": ("soup", "bread", "oven", "salt", "pan"),
    "sailing": ("boat", "wind", "harbour", "sail", "rope"),
    "music": ("violin", "song", "chord", "drum", "choir"),
}


def documents(count=47):
    rng = np.random.default_rng(1)
    for number in range(count):
        topic = list(TOPICS)[number % 3]
        words = rng.choice(TOPICS[topic], 9)
        yield {
            "_id": f"d{number}",
            "title": f"{topic} {words[0]}",
            "text": f"The {' and the '.join(words)}.",
        }


def write(folder):
    corpus = folder / "corpus"
    corpus.mkdir()
    rows = [*documents(), {"_id": "empty", "title": "", "text": ""}]
    (corpus / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    queries = [
        {"_id": f"q{n}", "text": f"{words[0]} or {words[1]}"}
        for n, words in enumerate(TOPICS.values())
    ]
    (corpus / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in queries))
    lines = [f"q{n}\td{d}\t1\n" for n in range(3) for d in range(n, 47, 3)]
    (corpus / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n" + "".join(lines))
    (folder / "recipe.toml").write_text(RECIPE)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Return a folder with data, a recipe, a finished run and its index, made once."""
    folder = tmp_path_factory.mktemp("search")
    write(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REGARD_CACHE", str(folder / "cache"))
        assert main([*train(folder, "run"), "--json"]) == 0
    call = ["index", str(folder / "run"), str(folder / "corpus"), "--output", str(folder / "index")]
    assert main(call) == 0
    return folder


@pytest.fixture
def fresh(tmp_path, monkeypatch):
    """Return data and a recipe that a test may spoil."""
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "cache"))
    (tmp_path / "home").mkdir()
    write(tmp_path / "home")
    return tmp_path / "home"


def train(folder, run="new", *more):
    return ["train", str(folder / "recipe.toml"), "--run", str(folder / run), *more]


def test_it_is_compared_and_combined_with_bm25(home, said):
    assert main(["evaluate", str(home / "run"), "--json"]) == 0
    result = said()
    names = {"ndcg@10", "mrr@10", "recall@10", "recall@100", "map"}
    for scores in (result["metrics"], result["metrics"]["baseline"], result["metrics"]["together"]):
        assert names <= scores.keys() and all(0 <= scores[name] <= 1 for name in names)
    assert result["count"] == 3 and "trec_eval" in result["signature"]["ndcg@10"]
    assert result["metrics"]["recall@100"] == 1.0
    assert len(result["details"]["ranks"]) == 3
    page = (home / "run" / "report.html").read_text()
    assert "Searches" in page and "by BM25" in page
    assert "sentence-similarity" in (home / "run" / "README.md").read_text()


def test_a_query_finds_documents_in_every_way(home, capsys, said):
    for way in ("dense", "bm25", "hybrid"):
        call = ["search", str(home / "index"), "boat harbour", "--by", way, "--k", "5", "--json"]
        assert main(call) == 0
        result = said()
        assert result["by"] == way and [hit["rank"] for hit in result["results"]] == [1, 2, 3, 4, 5]
        scores = [hit["score"] for hit in result["results"]]
        assert scores == sorted(scores, reverse=True)
        assert all(hit["id"] != "empty" for hit in result["results"])
    assert main(["search", str(home / "index"), "violin"]) == 0
    assert "music" in capsys.readouterr().out


def test_a_query_that_matches_nothing_says_so(home, capsys, said, refused):
    assert main(["search", str(home / "index"), "zzz", "--by", "bm25"]) == 0
    result = capsys.readouterr()
    assert result.out == "" and "nothing matches" in result.err
    assert main(["search", str(home / "index"), "zzz", "--by", "bm25", "--json"]) == 0
    assert said()["results"] == []
    assert main(["search", str(home / "index"), "zzz", "--json"]) == 0
    assert said()["by"] == "hybrid"
    assert main(["search", str(home / "index"), "zzz"]) == 0
    result = capsys.readouterr()
    assert result.out and "found by vectors alone" in result.err
    assert main(["search", str(home / "index"), "boat"]) == 0
    assert capsys.readouterr().err == ""
    refused(2, ["search", str(home / "index"), "  "], "blank")


def test_a_full_disk_leaves_no_index_and_is_reported(home, tmp_path, monkeypatch, refused):
    def full(*_arguments):
        # What the library says when a disk is full; it is no OSError.
        raise SafetensorError("Error while serializing: I/O error: No space (os error 28)")

    monkeypatch.setattr("safetensors.numpy.save_file", full)
    out = tmp_path / "words"
    refused(
        74, ["index", str(home / "corpus"), "--words-only", "--output", str(out)], "disk is full"
    )
    assert not out.exists()


def test_wrong_searches_are_refused(home, tmp_path, refused):
    refused(2, ["search", str(home), "boat"], "no index")
    refused(2, ["search", str(home / "index"), "boat", "--by", "magic"], "'magic'")
    refused(2, ["search", str(home / "index"), "boat", "--share", "2"], "0 to 1")
    place = [str(home / "corpus"), "--words-only", "--output", str(tmp_path / "words")]
    assert main(["index", *place]) == 0
    refused(2, ["search", str(tmp_path / "words"), "boat", "--by", "dense"], "words alone")
    refused(2, ["index", *place], "nothing is overwritten")
    refused(2, ["index", str(home / "corpus"), "--output", str(tmp_path / "x")], "a run and a")
    gone = ["index", str(home / "gone"), "--words-only", "--output", str(tmp_path / "y")]
    refused(2, gone, "gone")
    assert not (tmp_path / "y").exists()


def test_an_index_that_was_tampered_with_is_refused(home, tmp_path, refused):
    shutil.copytree(home / "index", tmp_path / "index")
    with (tmp_path / "index" / "documents.jsonl").open("a") as lines:
        lines.write("more\n")
    refused(1, ["search", str(tmp_path / "index"), "boat"], "documents.jsonl")


def test_an_index_stands_alone(home, tmp_path, said):
    shutil.copytree(home / "index", tmp_path / "moved")
    assert main(["search", str(tmp_path / "moved"), "boat", "--by", "dense", "--json"]) == 0
    here = said()["results"]
    assert main(["search", str(home / "index"), "boat", "--by", "dense", "--json"]) == 0
    assert here == said()["results"]


def test_an_approximate_index_finds_the_same(home, tmp_path, said):
    pytest.importorskip("usearch", reason="usearch is not installed")
    call = ["index", str(home / "run"), str(home / "corpus"), "--output", str(tmp_path / "near")]
    assert main([*call, "--approximate", "--json"]) == 0
    assert said()["approximate"]
    found = []
    for more in ([], ["--exact"]):
        call = ["search", str(tmp_path / "near"), "boat sail", "--by", "dense", "--json", *more]
        assert main(call) == 0
        found.append([hit["id"] for hit in said()["results"]])
    assert len(set(found[0]) & set(found[1])) >= 9


def test_without_the_package_an_approximate_index_is_refused(home, tmp_path, monkeypatch, refused):
    monkeypatch.setattr("regard.inference.search.approximate.find_spec", lambda name: None)
    call = ["index", str(home / "run"), str(home / "corpus"), "--output", str(tmp_path / "near")]
    refused(2, [*call, "--approximate"], "usearch", "regard[search]")
    assert not (tmp_path / "near").exists()


def test_texts_become_vectors(home, capsys, tmp_path, said):
    import regard

    assert main(["predict", str(home / "run"), "a boat", "a boat", "", "--json"]) == 0
    first, same, blank = (answer["vector"] for answer in said()["answers"])
    assert first == same and len(first) == 16 and not any(blank)
    assert np.linalg.norm(first) == pytest.approx(1.0, abs=1e-5)
    (tmp_path / "in.txt").write_text("a boat\nthe soup\n")
    out = tmp_path / "out.npy"
    call = ["predict", str(home / "run"), "--input", str(tmp_path / "in.txt"), "--output", str(out)]
    assert main(call) == 0
    array = np.load(out)
    assert array.shape == (2, 16) and array.dtype == np.float32
    assert np.allclose(array, regard.load(home / "run").encode(["a boat", "the soup"]))
    assert main(["predict", str(home / "run"), "a boat"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 16


def test_likeness_is_measured_by_spearman(home, tmp_path, said, refused):
    rows = [
        "boat and harbour\tthe boat in the harbour\t5",
        "boat\tsail and rope\t3",
        "boat\tviolin song\t0.5",
        "soup\tviolin\t0",
    ]
    (tmp_path / "pairs.tsv").write_text("\n".join(rows) + "\n")
    assert (
        main(["evaluate", str(home / "run"), "--data", str(tmp_path / "pairs.tsv"), "--json"]) == 0
    )
    result = said()
    assert result["count"] == 4 and result["metrics"]["spearman"] > 0.3
    assert "spearman" in result["metrics"]["baseline"]
    (tmp_path / "more.csv").write_text("id,score,one,two\n1,5,boat,boat\n2,1,boat,soup\n3,x,a,b\n")
    call = [
        "evaluate",
        str(home / "run"),
        "--data",
        str(tmp_path / "more.csv"),
        "--fields",
        "one,two,score",
    ]
    refused(1, call, "more.csv:4", "'x'")


def test_scored_pairs_are_reported_on_but_not_chosen_by(fresh, said, refused):
    (fresh / "alike.tsv").write_text(
        "a boat\tthe boat\t5\na boat\ta soup\t1\nthe sail\ta rope\t3\n"
    )
    valid = ["--set", 'data.valid=["alike.tsv"]']
    refused(1, train(fresh, "new", *valid), "alike.tsv", "data.test")
    test = ["--set", 'data.test=["alike.tsv"]', "--set", "training.budget=2 steps"]
    assert main([*train(fresh, "new", *test), "--json"]) == 0
    assert -1 <= said()["metrics"]["spearman"] <= 1


def test_judgments_of_what_is_not_there_are_named(fresh, said, refused):
    with (fresh / "corpus" / "qrels.tsv").open("a") as lines:
        lines.write("q1\tgone\t1\nq99\td1\t1\n")
    assert main(["check", str(fresh / "recipe.toml"), "--json"]) == 1
    result = said()
    assert result["counts"]["missing-document"] == result["counts"]["missing-query"] == 1
    places = {(f["kind"], f["line"]) for f in result["findings"] if "qrels" in f["file"]}
    assert ("missing-document", 49) in places and ("missing-query", 50) in places
    refused(1, train(fresh), "qrels.tsv:49", "'gone'", "skip")
    assert not (fresh / "new").exists()
    assert main([*train(fresh), "--set", "data.on_bad_line=skip", "--json"]) == 0
    assert said()["count"] == 3


def test_check_names_empty_and_equal_documents_and_is_content(fresh, capsys, said):
    with (fresh / "corpus" / "corpus.jsonl").open("a") as lines:
        lines.write(json.dumps({**next(documents()), "_id": "again"}) + "\n")
    assert main(["check", str(fresh / "recipe.toml"), "--json"]) == 0
    result = said()
    assert result["counts"] == {"empty-document": 1, "duplicate": 1}
    assert result["records"] == {"train": 49, "test": 3}
    assert main(["check", str(fresh / "recipe.toml")]) == 0
    assert "corpus.jsonl:48" in capsys.readouterr().out


def test_labelled_pairs_are_learned_from_but_not_those_reported_on(fresh, said, refused):
    labelled = ["--set", 'retrieval.pairs=["labelled"]', "--set", "retrieval.hard_negatives=2"]
    refused(1, train(fresh, "new", *labelled), "must not be used for evaluation", "qrels.tsv")
    (fresh / "corpus" / "qrels").mkdir()
    lines = (fresh / "corpus" / "qrels.tsv").read_text().splitlines(keepends=True)
    (fresh / "corpus" / "qrels" / "train.tsv").write_text("".join(lines[:33]))
    (fresh / "corpus" / "qrels" / "test.tsv").write_text("".join(lines[33:]))
    (fresh / "corpus" / "qrels.tsv").unlink()
    steps = ["--set", "training.budget=3 steps", "--set", "data.holdout=0.45"]
    assert main([*train(fresh, "new", *labelled, *steps), "--json"]) == 0
    assert said()["split"] == "test"


def test_pairs_in_a_file_and_documents_in_plain_text_serve_too(fresh, capsys, said, refused):
    rows = [f"{row['title']}\t{row['text']}" for row in documents()]
    (fresh / "pairs.tsv").write_text("\n".join(rows) + "\n")
    few = ["--set", "training.budget=3 steps", "--set", "data.test=[]"]
    pairs = [*few, "--set", 'retrieval.pairs=["labelled"]', "--set", 'data.train=["pairs.tsv"]']
    assert main([*train(fresh, "pairs", *pairs), "--json"]) == 0
    assert said()["count"] > 0
    assert (
        main(["evaluate", str(fresh / "pairs"), "--data", str(fresh / "pairs.tsv"), "--json"]) == 0
    )
    capsys.readouterr()
    (fresh / "plain.txt").write_text(
        "\n\n".join(f"{r['title']} is nice. {r['text']}" for r in documents())
    )
    plain = [*few, "--set", 'data.train=["plain.txt"]']
    assert main([*train(fresh, "plain", *plain), "--json"]) == 0
    assert said()["count"] > 0
    titles = [*plain, "--set", 'retrieval.pairs=["title"]']
    refused(1, train(fresh, "titles", *titles), "no document has a title")


def test_init_inspects_a_folder(fresh, refused):
    out = fresh / "mine.toml"
    assert main(["init", "retrieval", "--data", str(fresh / "corpus"), "--output", str(out)]) == 0
    written = out.read_text()
    assert 'pairs = ["crops", "title"]' in written and "47 documents" in written
    assert main(["check", str(out)]) == 0
    (fresh / "nothing").mkdir()
    call = [
        "init",
        "retrieval",
        "--data",
        str(fresh / "nothing"),
        "--output",
        str(fresh / "b.toml"),
    ]
    refused(2, call, "no corpus.jsonl")


def test_a_body_is_carried_from_pretraining_and_a_stopped_run_continues(
    fresh, capsys, monkeypatch, said, refused
):
    from regard.errors import Stopped
    from regard.training import loop

    texts = "\n\n".join(f"{row['title']}. {row['text']}" for row in documents())
    (fresh / "text.txt").write_text(texts)
    first = RECIPE.partition("[retrieval]")[0].replace('"retrieval"', '"masked-pretraining"')
    first = first.replace('["corpus"]', '["text.txt"]').replace('test = ["text.txt"]', "")
    (fresh / "body.toml").write_text(first + '[training]\nbudget = "3 steps"\nthreads = 1\n')
    assert main(["train", str(fresh / "body.toml"), "--run", str(fresh / "body"), "--json"]) == 0
    begun = ["--set", f"model.start.run={fresh / 'body'}", "--set", "retrieval.start=random"]
    capsys.readouterr()
    assert main([*train(fresh, "whole", *begun), "--json"]) == 0
    assert (
        "body"
        in json.loads((fresh / "whole" / "metrics.json").read_text())["training"]["began"]["run"]
    )
    take = loop.Loop._save

    def save_and_stop(self):
        take(self)
        raise Stopped("stopped.", "Go on.")

    monkeypatch.setattr(loop.Loop, "_save", save_and_stop)
    assert main(train(fresh, "stopped", *begun)) == 143
    monkeypatch.setattr(loop.Loop, "_save", take)
    assert main(train(fresh, "stopped", *begun, "--resume")) == 0
    whole, same = ((fresh / n / "model.safetensors").read_bytes() for n in ("whole", "stopped"))
    assert whole == same
    capsys.readouterr()
    assert main(["predict", str(fresh / "body"), "a boat", "--vectors", "--json"]) == 0
    assert len(said()["answers"][0]["vector"]) == 16
    refused(
        2,
        ["predict", str(fresh / "body"), "a [MASK]", "--output", str(fresh / "a.npy")],
        "--vectors",
    )


@pytest.mark.parametrize(
    ("setting", "word"),
    [
        ("retrieval.query_length=[9,3]", "minimum"),
        ("retrieval.pairs=[]", "at least one"),
        ("retrieval.hard_from=7", "no effect"),
        ("task=classification", "no effect"),
        ("model.head.pooling=max", "weights of mean pooling"),
    ],
)
def test_settings_that_cannot_be_had_together_are_refused(fresh, setting, word, refused):
    refused(2, train(fresh, "new", "--set", setting), word)
