"""The model card of an exported folder, with the front matter that model hubs read."""

from pathlib import Path

from regard.files import write_whole
from regard.interop.exports.target import Fit
from regard.run import Run
from regard.tasks.kinds import kind_of

GONE = ("translation", "summarization", "text2text-generation")
"""Pipelines that version 5 of transformers no longer has."""
HEAD = {
    "text-classification": 'pipeline("text-classification", model="DIR")("TEXT")',
    "token-classification": (
        'pipeline("token-classification", model="DIR", aggregation_strategy="simple")("TEXT")'
    ),
    "fill-mask": 'pipeline("fill-mask", model="DIR")("TEXT")',
    "text-generation": 'pipeline("text-generation", model="DIR")("TEXT")',
    "feature-extraction": 'pipeline("feature-extraction", model="DIR")("TEXT")',
}


def write_card(run: Run, fit: Fit, folder: Path) -> None:
    """Write ``README.md``."""
    write_whole(folder / "README.md", make_card(run, fit))


def make_card(run: Run, fit: Fit) -> str:
    """Return the card."""
    kind, languages = kind_of(run.recipe), run.recipe.data.languages
    named = "".join(f"\n  - {language}" for language in languages)
    notes = "".join(f"- {note}\n" for note in (*fit.notes, *decoding_notes(run)))
    return f"""---
library_name: transformers
pipeline_tag: {kind.pipeline_tag}
{f"language:{named}" + chr(10) if languages else ""}tags:
  - regard
---

# A {run.recipe.task} model

Trained by regard and exported as `{fit.architecture}`. `equality.json` records how tokens, outputs
and answers were compared with those of the run.

```python
{make_usage(run)}
```

{f"## What differs{chr(10)}{chr(10)}{notes}" if notes else ""}"""


def decoding_notes(run: Run) -> tuple[str, ...]:
    """Say where decoding is not the same although the network is."""
    shape, decoding = run.task.export(), run.recipe.decoding
    if shape.kind != "encoder-decoder" or decoding.method != "beam":
        return ()
    return (
        "beam search: transformers divides by length^p, regard by ((5 + length) / 6)^p, so answers "
        "of different lengths may be ranked differently; greedy answers are the same",
    )


def make_usage(run: Run) -> str:
    """Return Python that uses the folder."""
    kind = kind_of(run.recipe)
    if run.task.export().kind == "encoder-decoder":
        return f"""from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("DIR")
model = AutoModelForSeq2SeqLM.from_pretrained("DIR")
ids = model.generate(**tokenizer("{kind.example}", return_tensors="pt"))
print(tokenizer.decode(ids[0], skip_special_tokens=True))"""
    tag = kind.pipeline_tag if kind.pipeline_tag in HEAD else "feature-extraction"
    call = HEAD[tag].replace("TEXT", kind.example)
    return f"from transformers import pipeline\n\nprint({call})"
