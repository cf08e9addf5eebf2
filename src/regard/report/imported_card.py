"""The card of a run that was imported: where its parameters come from, and no score."""

from collections.abc import Mapping
from typing import Any

from regard.recipe.recipe import Recipe
from regard.tasks.kinds import kind_of


def imported_card(recipe: Recipe, facts: Mapping[str, Any]) -> str:
    """Return the README.md of an imported run, with the front matter that model hubs read."""
    kind = kind_of(recipe)
    return f"""---
library_name: regard
pipeline_tag: {kind.pipeline_tag}
tags:
  - regard
---

# An imported {recipe.task} model

{describe_origin(facts)}
It was not trained here and nothing was measured: `regard evaluate RUN --data FILE` does that.

{facts["parameters"]:,} parameters; texts of up to {recipe.text.max_length} tokens. Its licence
and what it was trained on are documented where it came from.

## Use

```
regard predict RUN "{kind.example}"
```
```python
import regard
model = regard.load("RUN")
model.predict("{kind.example}")
```

To carry its body into a recipe of your own:

```toml
[model.start]
run = "RUN"
```

## Made of

- SHA-256 of the weights as they came: `{facts["weights"]}`
- left out: {", ".join(f"`{name}`" for name in facts["left_out"]) or "nothing"}
- the whole recipe, every default written out: `recipe.toml`
"""


def describe_origin(facts: Mapping[str, Any]) -> str:
    """Say in a sentence where an imported run comes from."""
    return (
        f"Imported from the folder {facts['from']} ({facts['architecture']}), weights "
        f"{facts['weights'][:12]}."
    )
