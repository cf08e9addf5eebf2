"""Summaries against the lead: abstracts (scitldr), e-mail subjects (aeslc), titles (bbc).

    python bench/summaries.py ../shared/data --budget 15min --seeds 1 2 3
    python bench/summaries.py ../shared/data --corpora bbc --budget 2000 steps --json titles.json

For each corpus: the shipped recipe from scratch and, unless ``--alone``, after denoising pretraining on
its own documents (for the same budget once more), by seed. Compared with lead-1, and with as many first
words as the references have on average. ROUGE is F1 in percent, the mean over the held-out examples; ±
is a 95% interval over seeds (Student).
"""

import argparse
import json
from pathlib import Path

from runs import format_interval, train_or_load

from regard.recipe.load import load
from regard.tasks.examples import examples
from regard.tasks.significance import interval

CORPORA = {
    "scitldr": ("summaries", ["document", "summary"]),
    "aeslc": ("headlines", ["document", "summary"]),
    "bbc": ("headlines", ["text", "title"]),
}
NAMES = ("rouge1", "rouge2", "rougel")


def settings(chosen, corpus, seed):
    """Return what every run of a corpus has in common, and its folder."""
    _, fields = CORPORA[corpus]
    data = chosen.data.absolute() / corpus
    return [
        f"data.train={json.dumps([str(data / 'train.jsonl.gz')])}",
        f"data.fields={json.dumps(fields)}",
        f"training.budget={' '.join(chosen.budget)}",
        f"seed={seed}",
        f"training.threads={chosen.threads}",
        *chosen.sets,
    ], data


def train_summarizer(chosen, corpus, seed, start=None):
    sets, data = settings(chosen, corpus, seed)
    recipe, _ = CORPORA[corpus]
    sets.append(f"data.test={json.dumps([str(data / 'dev.jsonl.gz')])}")
    if start:
        sets.append(f"model.start.run={start}")
    name = f"{corpus}-{'-'.join(chosen.budget)}-seed{seed}{'-denoised' if start else ''}"
    return train_or_load(load(recipe, sets), chosen.runs / name)


def train_denoiser(chosen, corpus, seed):
    """Pretrain on the documents alone, with the architecture of the recipe that starts from it."""
    sets, _ = settings(chosen, corpus, seed)
    recipe, fields = CORPORA[corpus]
    like = load(recipe)
    text, model = like.text, like.model
    sets += [
        f"data.fields={json.dumps(fields[:1])}",
        f"text.max_length={text.max_length}",
        f"text.vocabulary={text.vocabulary}",
        f"model.depth={model.depth}",
        f"model.decoder_depth={model.decoder_depth}",
        f"training.batch_tokens={like.training.batch_tokens}",
    ]
    folder = chosen.runs / f"{corpus}-{'-'.join(chosen.budget)}-seed{seed}-denoising"
    train_or_load(load("denoising", sets), folder)
    return folder


def evaluate_greedy(run):
    """Evaluate again with greedy decoding; in small models beam search prefers short answers."""
    held_out = list(examples(run.recipe, "test")())
    return run.task.measure(run.model, held_out, quick=True).metrics


def print_row(name, several):
    """Print one row of the table; return it for JSON."""
    line, found = f"{name:34}", {"name": name, "seeds": len(several)}
    for metric in NAMES:
        values = [100 * one[metric] for one in several]
        each = interval(values)
        found[metric] = {"mean": each.mean, "interval": each.half}
        line += f"  {format_interval(values):<14}"
    print(line, flush=True)
    return found


def compare(chosen, corpus):
    rows, runs = [], [train_summarizer(chosen, corpus, seed) for seed in chosen.seeds]
    first = runs[0].metrics["test"]
    details = first["details"]
    print(
        f"{corpus}: {first['count']:,} held-out examples{'':6}  ROUGE-1         ROUGE-2         ROUGE-L"
    )
    rows.append(print_row(f"  {runs[0].task.baseline[:30]}", [first["metrics"]["baseline"]]))
    lead_words = details["lead_words"]
    rows.append(print_row(f"  the first {lead_words['words']} words", [lead_words]))
    rows += [
        print_row("  from scratch", [run.metrics["test"]["metrics"] for run in runs]),
        print_row("  from scratch, greedy", [evaluate_greedy(run) for run in runs]),
    ]
    if not chosen.alone:
        pretrained = [
            train_summarizer(chosen, corpus, seed, start=train_denoiser(chosen, corpus, seed))
            for seed in chosen.seeds
        ]
        rows += [
            print_row("  after denoising", [run.metrics["test"]["metrics"] for run in pretrained]),
            print_row("  after denoising, greedy", [evaluate_greedy(run) for run in pretrained]),
        ]
        details = pretrained[0].metrics["test"]["details"]
    for who in ("answers", "references"):
        shares = details[who]
        print(
            f"  {who}: {shares['words']:.1f} words, {100 * shares['copied']:.0f}% copied from the document, "
            f"{100 * shares['novel_bigrams']:.0f}% new bigrams"
        )
    return {"corpus": corpus, "rows": rows, "details": details}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--corpora", nargs="+", choices=CORPORA, default=list(CORPORA))
    parser.add_argument("--budget", nargs="+", default=["15min"])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--alone", action="store_true", help="leave denoising out")
    parser.add_argument("--runs", type=Path, default=Path("runs/bench"))
    parser.add_argument("--set", action="append", default=[], dest="sets")
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    found = [compare(chosen, corpus) for corpus in chosen.corpora]
    if chosen.json:
        chosen.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
