"""Benchmarks of explanations: size, speed, accuracy, faithfulness, and the cost of taps.

    python bench/explain.py page                                512 words, 12 x 12 heads: size, opening time
    python bench/explain.py taps                                the cost of taps that are not recorded
    python bench/explain.py scenes RUN [--texts 200]            attributions against gold alignments
    python bench/explain.py reviews RUN [--texts 200]           attributions against gold rationales
    python bench/explain.py faithful RUN [--data FILE] [--texts 200]   faithfulness with intervals
    python bench/explain.py seeds RUN --other RUN [--texts 200]   how far another seed moves an answer

RUN is a translator of ``world:scenes``, a classifier of ``world:reviews``, or any classifier.
``--json FILE`` writes the figures. An attribution that a run does not have is left out.
"""

import argparse
import base64
import json
import os
import subprocess
import tempfile
import time
from itertools import islice
from pathlib import Path

import numpy as np

from regard.errors import UsageError

ATTRIBUTIONS = ("weights", "rollout", "gradient", "integrated-gradients", "occlusion")


# ── the page ─────────────────────────────────────────────────────────────────────────────────────


class Browser:
    """A headless Chromium, controlled through a pipe."""

    def __init__(self):
        inward, self.write = os.pipe()
        self.read, outward = os.pipe()
        call = (
            "exec chromium --headless --no-sandbox --disable-gpu --remote-debugging-pipe "
            f"3<&{inward} 4>&{outward}"
        )
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(["sh", "-c", call], pass_fds=(inward, outward), **quiet)
        os.close(inward)
        os.close(outward)
        self.rest, self.number = b"", 0

    def ask(self, method, session=None, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        message |= {"sessionId": session} if session else {}
        os.write(self.write, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self.rest:
                self.rest += os.read(self.read, 1 << 16)
            one, self.rest = self.rest.split(b"\0", 1)
            reply = json.loads(one)
            if reply.get("id") == self.number:
                return reply["result"]

    def open(self, address, *, width=1280, dark=False):
        """Open a page; return its session, when it was drawn (ms) and its processor time (s)."""
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.ask("Emulation.setDeviceMetricsOverride", session, **size)
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.ask("Emulation.setEmulatedMedia", session, features=scheme)
        self.ask("Performance.enable", session, timeDomain="threadTicks")
        self.ask("Page.enable", session)
        self.ask("Page.navigate", session, url=address)
        drawn = ""
        for _ in range(400):
            code = "document.documentElement.dataset.shownAt || ''"
            drawn = self.ask("Runtime.evaluate", session, expression=code)["result"].get("value")
            if drawn:
                break
            time.sleep(0.02)
        metrics = self.ask("Performance.getMetrics", session)["metrics"]
        busy = next(one["value"] for one in metrics if one["name"] == "TaskDuration")
        return session, int(drawn), busy

    def screenshot(self, session, file):
        shot = {"format": "png", "captureBeyondViewport": True}
        data = self.ask("Page.captureScreenshot", session, **shot)["data"]
        Path(file).write_bytes(base64.b64decode(data))

    def close(self):
        self.ask("Browser.close")
        self.process.wait(timeout=30)


def page(arguments):
    from regard.draw.viewer import ExplanationView, ViewedStack, explanation_page

    words = [f"word{n}" for n in range(512)]
    rng, found = np.random.default_rng(0), {}
    browser = Browser()
    with tempfile.TemporaryDirectory() as folder:
        for name, sharp in (("flat", 0.3), ("usual", 2.0), ("sharp", 5.0)):
            scores = np.exp(sharp * rng.normal(size=(12, 12, 512, 512)).astype(np.float32))
            weights = scores / scores.sum(-1, keepdims=True)
            stack = ViewedStack("self-attention", words, words, weights, "")
            view = ExplanationView("A text of 512 words", "", [stack], (11, 0))
            begin = time.perf_counter()
            file = Path(folder) / f"{name}.html"
            file.write_text(explanation_page(view), encoding="utf-8")
            made = time.perf_counter() - begin
            opened = [browser.open(file.as_uri()) for _ in range(5)]
            found[name] = {
                "megabytes": file.stat().st_size / 1e6,
                "seconds_to_write": made,
                "milliseconds_to_open": min(drawn for _, drawn, _ in opened),
                "processor_milliseconds": 1000 * min(busy for _, _, busy in opened),
            }
            if arguments.shots:
                for dark in (False, True):
                    for width in (1280, 420):
                        session, *_ = browser.open(file.as_uri(), width=width, dark=dark)
                        shot = f"{name}-{width}-{'dark' if dark else 'light'}.png"
                        browser.screenshot(session, Path(arguments.shots) / shot)
    browser.close()
    return found


# ── the cost of taps ────────────────────────────────────────────────────────


def taps(arguments):
    import torch

    from regard.layers.attention import Attention

    torch.set_num_threads(1)  # so that processor time can be measured, which is robust to load
    model = Attention(256, 8).eval()
    states, visible = torch.randn(16, 128, 256), torch.ones(1, 1, 1, 128, dtype=torch.bool)
    without = type("Untapped", (Attention,), {"_plain": property(lambda self: True)})
    seconds = {"with": [], "without": []}
    with torch.inference_mode():
        for _ in range(arguments.texts):
            for name, kind in (("with", Attention), ("without", without)):
                model.__class__ = kind
                begin = time.thread_time()
                model(states, visible=visible)
                seconds[name].append(time.thread_time() - begin)
    model.__class__ = Attention
    middle = {name: float(np.median(times)) for name, times in seconds.items()}
    return {"seconds": middle, "ratio": middle["with"] / middle["without"]}


# ── attributions against the truth ───────────────────────────────────────────────────────────────────


def scenes(arguments):
    from regard.data.worlds.scenes import draw_scenes as world
    from regard.explain.alignment import GoldAlignment, find_strongest, measure_agreement
    from regard.explain.attributions.attribute import attribute
    from regard.explain.trace import trace
    from regard.run import Run

    run = Run(Path(arguments.run))

    def golds(split, count):
        return [
            GoldAlignment(s.source, s.target, s.alignment, s.content)
            for s in islice(world(split), count)
        ]

    measured = golds("test", arguments.texts)
    best = measure_agreement(run, golds("valid", 100), measured)
    right, words, chance = dict.fromkeys(ATTRIBUTIONS, 0), 0, 0.0
    for gold in measured:
        traced = trace(run, gold.source, gold.target)
        asked = run.task.question(run.model, gold.source, gold.target, pieces=True)
        links = set(gold.alignment)
        words += len(gold.content)
        for name in ATTRIBUTIONS:
            found = find_strongest(attribute(asked, name).scores, traced)
            right[name] += sum((found[word], word) in links for word in gold.content)
        sources = len(gold.source.split())
        chance += sum(len({s for s, t in links if t == word}) / sources for word in gold.content)
    found = {name: count / words for name, count in right.items()}
    return {
        "words": words,
        "chance": chance / words,
        f"weights ({best.map.name}, chosen on valid)": best.share,
        "weights (mean of the last layer)": found.pop("weights"),
        **found,
    }


def reviews(arguments):
    """Average precision of each attribution's ranking of words against the gold rationale."""
    from regard.data.worlds.reviews import draw_reviews as world
    from regard.explain.attributions.attribute import attribute
    from regard.run import Run

    run = Run(Path(arguments.run))
    precisions = {name: [] for name in ("chance", *ATTRIBUTIONS)}
    for review in islice(world("test"), arguments.texts):
        asked = run.task.question(run.model, " ".join(review.sentences), label=review.rating)
        gold = np.asarray(_gold(asked, review))
        if not gold.any():
            continue
        precisions["chance"].append(gold.mean())
        for name in ATTRIBUTIONS:
            try:
                scores = attribute(asked, name).by_word()[list(asked.erasable)]
            except UsageError:
                continue
            hits = gold[np.argsort(-scores, kind="stable")]
            ranks = np.flatnonzero(hits) + 1
            precisions[name].append(float((np.arange(1, len(ranks) + 1) / ranks).mean()))
    return {name: _interval(values) for name, values in precisions.items() if values}


def _gold(asked, review):
    """Tell for every erasable word whether it belongs to the rationale, by its offset in the text."""
    begins, text = [], " ".join(review.sentences)
    for sentence, word in review.rationale_words:
        before = " ".join(review.sentences[:sentence])
        sentence_words = review.sentences[sentence].split()
        begin = len(before) + bool(before) + len(" ".join(sentence_words[:word])) + bool(word)
        begins.append((begin, begin + len(sentence_words[word])))
    found, at = [], 0
    for n in asked.erasable:
        word = asked.names[n].replace("▁", " ").strip()
        at = text.find(word, at)
        found.append(any(low <= at < high for low, high in begins))
        at += len(word)
    return found


# ── faithfulness ─────────────────────────────────────────────────────────────────────────────────


def faithful(arguments):
    from regard.explain.attributions.attribute import attribute, measure_answer
    from regard.run import Run

    run = Run(Path(arguments.run))
    parts = ("comprehensiveness", "sufficiency", "depends", "seconds")
    gains = {name: {part: [] for part in parts} for name in ATTRIBUTIONS}
    for number, text in enumerate(_texts(run, arguments)):
        asked = run.task.question(run.model, text)
        for name in ATTRIBUTIONS:
            begin = time.process_time()
            try:
                attribution = attribute(asked, name)
            except UsageError:
                continue
            seconds = time.process_time() - begin
            found = measure_answer(asked, attribution, seed=number)
            drops = (found.comprehensiveness, found.sufficiency)
            figures = [*(one.top - one.chance for one in drops), float(found.faithful), seconds]
            for part, figure in zip(parts, figures, strict=True):
                gains[name][part].append(figure)
    return {
        name: {part: _interval(values) for part, values in parts.items()}
        for name, parts in gains.items()
        if parts["sufficiency"]
    }


def seeds(arguments):
    """How far the probability of an answer moves if the same recipe is trained with another seed."""
    from regard.run import Run

    run, other = (Run(Path(folder)) for folder in (arguments.run, arguments.other))
    moved = []
    for text in _texts(run, arguments):
        answers = [one.task.answer(one.model, [text], truncate=True)[0] for one in (run, other)]
        moved.append(
            abs(
                answers[0].probabilities[answers[0].text]
                - answers[1].probabilities[answers[0].text]
            )
        )
    quartiles = dict(zip(("25%", "50%", "75%"), np.quantile(moved, [0.25, 0.5, 0.75]), strict=True))
    return {"moved": _interval(moved), **{f"quantile {q}": float(v) for q, v in quartiles.items()}}


def _texts(run, arguments):
    """Return texts of a split, or of a file."""
    from regard.inference.predictor import Predictor

    files = [arguments.data] if arguments.data else []
    found = Predictor(run).examples(split=arguments.split, files=files, most=arguments.texts)
    return ["\t".join(texts) for *texts, _ in found]


def _interval(values):
    """Mean with a 95% interval, by resampling texts."""
    drawn = np.random.default_rng(0).choice(values, size=(2000, len(values))).mean(axis=1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return {
        "mean": float(np.mean(values)),
        "low": float(low),
        "high": float(high),
        "texts": len(values),
    }


# ── printing ─────────────────────────────────────────────────────────────────────────────────────


def show(found, indent=0):
    for name, value in found.items():
        if isinstance(value, dict) and "low" in value:
            print(
                f"{'':{indent}}{name:<44} {value['mean']:+.3f}  ({value['low']:+.3f} to {value['high']:+.3f}, {value['texts']} texts)"
            )
        elif isinstance(value, dict):
            print(f"{'':{indent}}{name}")
            show(value, indent + 2)
        else:
            print(f"{'':{indent}}{name:<44} {value:.4g}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    measures = {one.__name__: one for one in (page, taps, scenes, reviews, faithful, seeds)}
    parser.add_argument("what", choices=measures)
    parser.add_argument("run", nargs="?", help="a run folder, for scenes, reviews and faithful")
    parser.add_argument("--texts", type=int, default=200)
    parser.add_argument(
        "--data", help="faithful: a file of texts with labels instead of the test split"
    )
    parser.add_argument("--split", default="test", help="faithful, seeds: the split of texts")
    parser.add_argument("--other", help="seeds: a run of the same recipe with another seed")
    parser.add_argument(
        "--shots", help="page: a folder for screenshots, light and dark, wide and narrow"
    )
    parser.add_argument("--json", type=Path, help="write the figures here")
    arguments = parser.parse_args()
    figures = measures[arguments.what](arguments)
    show(figures)
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=1))
