"""Sentences per second of decoding.engine on one core, interleaved: torch, CTranslate2, int8.

    python bench/engines.py RUN SOURCE REFERENCE [--rounds 3]

Each engine translates all sentences in turn, tokenizing and decoding included; the figure is the
median over rounds, in seconds of CPU time, which other processes on the machine distort less than
wall time. BLEU is sacreBLEU of the answers, "same" how many are torch's own.
"""

import argparse
import gzip
import statistics
import time
from pathlib import Path

import torch

from regard.inference.predictor import load_run
from regard.tasks.metrics import translation_metrics

ENGINES = {
    "torch": {"engine": "torch"},
    "ctranslate2, float32": {"engine": "ctranslate2"},
    "ctranslate2, int8": {"engine": "ctranslate2", "quantization": "int8"},
}
METHODS = {"greedy": {"method": "greedy"}, "beam 5": {"method": "beam", "beam": 5}}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("run")
    parser.add_argument("source")
    parser.add_argument("reference")
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    sources, references = read(chosen.source), read(chosen.reference)
    for method, decoding in METHODS.items():
        compare(chosen, method, decoding, sources, references)


def compare(chosen, method, decoding, sources, references):
    runs = {
        name: load_run(chosen.run, decoding={**decoding, **own}) for name, own in ENGINES.items()
    }
    seconds, answers = {name: [] for name in runs}, {}
    for _ in range(chosen.rounds):
        for name, run in runs.items():
            begin = time.process_time()
            found = run.task.answer(run.model, sources, truncate=True)
            seconds[name].append(time.process_time() - begin)
            answers[name] = [one.text for one in found]
    usual = len(sources) / statistics.median(seconds["torch"])
    for name, texts in answers.items():
        speed = len(sources) / statistics.median(seconds[name])
        bleu = translation_metrics(texts, references).scores["bleu"]
        same = sum(one == other for one, other in zip(texts, answers["torch"], strict=True))
        print(
            f"{method:7} {name:21} {speed:6.0f}/s  {speed / usual:4.2f}  BLEU {bleu:.2f}  same {same}"
        )


def read(file):
    path = Path(file)
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return text.decode("utf-8").splitlines()


if __name__ == "__main__":
    main()
