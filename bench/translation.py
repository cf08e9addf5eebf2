"""Multi30k, German to English: a shipped recipe by seed, next to the other optimizer and copying.

    python bench/translation.py ../shared/data/multi30k --minutes 15 --seeds 1 2 3

Every run trains for the same number of steps: what fits into the budget of minutes on this machine,
timed once, or ``--steps``. Prints the curve of valid BLEU (greedy) against minutes and steps, the score on
test (beam, with sacreBLEU's signature), and over the seeds the mean with a 95% interval (Student).
"""

import argparse
import json
from pathlib import Path

from runs import format_interval, train_or_load

from regard.recipe.load import load

OTHER = {  # the optimizer that a recipe does not use, as it was best before the lexicon start
    "adamw": "training.optimizer={kind='muon', rate=0.03, rest={rate=3e-3, weight_decay=0.0}}",
    "muon": "training.optimizer={kind='adamw', rate=2e-3, betas=[0.9, 0.98], weight_decay=0.0}",
}


def recipe(data, name, budget, seed, *more):
    files = {
        side: [str(data / f"{part}.{language}.gz") for language in ("de", "en")]
        for side, part in (("train", "train"), ("valid", "val"), ("test", "test_2016_flickr"))
    }
    sets = [f"data.{side}={json.dumps(names)}" for side, names in files.items()]
    return load(name, [*sets, f"training.budget={budget}", f"seed={seed}", *more])


def train(made, folder):
    run = train_or_load(made, folder)
    for line in run.journal:
        if line["event"] == "evaluation":
            bleu = line["metrics"]["bleu"]
            print(
                f"    {line['seconds'] / 60:5.1f} min  step {line['step']:6}  valid greedy {bleu:.2f}"
            )
    summary = run.summary
    print(
        f"  {folder.name}: test BLEU {summary['metrics']['bleu']:.2f}, chrF "
        f"{summary['metrics']['chrf']:.2f}, {summary['steps']} steps, "
        f"{summary['seconds'] / 60:.1f} min, {summary['tokens_per_second']:,.0f} tokens/s"
    )
    return summary


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--recipe", default="multi30k")
    parser.add_argument("--minutes", type=float, default=15)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--runs", type=Path, default=Path("runs/bench"))
    parser.add_argument("--set", action="append", default=[], dest="sets")
    parser.add_argument("--alone", action="store_true", help="leave the other optimizer out")
    chosen = parser.parse_args()
    budget = f"{chosen.steps} steps" if chosen.steps else f"{chosen.minutes * 60:.0f}s"
    scores, last = [], None
    for seed in chosen.seeds:
        made = recipe(chosen.data.absolute(), chosen.recipe, budget, seed, *chosen.sets)
        last = train(made, chosen.runs / f"{chosen.recipe}-{budget.replace(' ', '-')}-seed{seed}")
        scores.append(last["metrics"]["bleu"])
        budget = f"{last['steps']} steps"  # the same steps for every run after the first
    print(
        f"{chosen.recipe}: {format_interval(scores)} over {len(scores)} seeds ({last['signature']['bleu']})"
    )
    print(f"copying the source: {last['metrics']['baseline']['bleu']:.2f}")
    if chosen.alone:
        return
    sets = [*chosen.sets, OTHER[made.training.optimizer.kind]]
    control = recipe(chosen.data.absolute(), chosen.recipe, budget, chosen.seeds[0], *sets)
    other = control.training.optimizer.kind
    train(control, chosen.runs / f"{chosen.recipe}-{budget.replace(' ', '-')}-{other}")


if __name__ == "__main__":
    main()
