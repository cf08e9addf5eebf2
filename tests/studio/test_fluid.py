"""The largest maps stay fluid: 512 words, 12 layers of 12 heads."""

import json

import numpy as np
import pytest

from regard.draw.viewer import ExplanationView, ViewedStack, view_data

WORDS, LAYERS, HEADS = 512, 12, 12
MEASURE = """
async (data) => {
  const { drawAttention } = await import("/static/attention.js");
  const make = (tag) => document.body.appendChild(document.createElement(tag));
  const place = Object.fromEntries(["grid", "map"].map((name) => [name, make("canvas")]));
  for (const name of ["tip", "name", "rows", "columns", "note", "caption"]) place[name] = make("div");
  place.select = make("select");
  const began = performance.now();
  const viewer = await drawAttention(data, place);
  const opened = performance.now() - began, times = [];
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  for (let n = 0; n < 24; n++) {
    await frame();
    const begin = performance.now();
    if (n % 2) viewer.mark((37 * n) % data.stacks[0].rows.length);
    else viewer.choose(0, n % 12, (5 * n) % 12);
    times.push(performance.now() - begin);
  }
  return { opened, times: times.sort((one, other) => one - other) };
}
"""


@pytest.mark.slow
def test_a_head_and_a_word_are_drawn_within_60_ms(page):
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(LAYERS, HEADS, WORDS, WORDS)).astype(np.float32) * 3
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    words = [f"word{n}" for n in range(WORDS)]
    stack = ViewedStack("self-attention", words, words, weights, "")
    data = view_data(ExplanationView("", "", [stack]))
    found = page.evaluate(MEASURE, json.loads(json.dumps(data)))
    half = found["times"][len(found["times"]) // 2]
    assert half < 60, found
