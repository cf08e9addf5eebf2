"""``docs/statements.md``: the statements as they are told, with what the right value is.

Written from the claims' own words; figures stand here only where they are exact on every machine
(counts and closed forms), so that the file changes with the code and not with the weather.
"""

from regard.claims.claim import FAMILIES, Claim
from regard.claims.registry import claims

_HEAD = """# The statements

Written by `regard claims --document docs/statements.md`; do not edit by hand.

What five course documents (D0 to D4) and the papers behind them say, each statement with the way it
is measured. `regard claims` measures the fast ones in under a minute, `regard claims --slow` trains
small models for the others, `regard claims NAME` tells one at length, and
`regard claims --output page.html` draws them all. A verdict is computed from figures and written
nowhere: neither here nor in the code.

| document | what it is about |
|---|---|
| D0 | attention, its cost, heads, sinusoids, masks, the 65M Transformer, BERT's input |
| D1 | the structured self-attentive embedding, hierarchical attention, the limits of attention |
| D2 | positions, heads, receptive fields, cost, masked autoencoders, encoder or encoder-decoder |
| D3 | a small causal language model, its head replaced for sentiment, parameter counts |
| D4 | scaling, positional embeddings, additive attention, BERT and GPT |
"""


def document() -> str:
    """Write the page."""
    parts = [_HEAD]
    every = list(claims().values())
    for family, title in FAMILIES.items():
        mine = [claim for claim in every if claim.family == family]
        if mine:
            parts.append(f"\n## {title}\n")
            parts += [_told(claim) for claim in mine]
    parts.append(_index(every))
    return "\n".join(parts)


def _told(claim: Claim) -> str:
    pace = "slow" if claim.slow else "fast"
    lines = [
        f"### {claim.name}",
        "",
        f"> {claim.statement}",
        "",
        f"{claim.source}. No. {', '.join(map(str, claim.numbers))}, {pace}. About "
        f"[{claim.layer}](../src/regard/{claim.layer}).",
        "",
        f"*Measured:* {claim.method}",
        "",
    ]
    if claim.right:
        lines += [f"*The right value:* {claim.right}", ""]
    if claim.condition:
        lines += [f"*Holds if:* {claim.condition}.", ""]
    lines += [f"*How to read it:* {claim.reading}", "", f"*What to try next:* {claim.then}", ""]
    return "\n".join(lines)


def _index(every: list[Claim]) -> str:
    rows = ["\n## By number\n", "| no. | statements |", "|---|---|"]
    for number in sorted({number for claim in every for number in claim.numbers}):
        names = (f"[{c.name}](#{c.name})" for c in every if number in c.numbers)
        rows.append(f"| {number} | {', '.join(names)} |")
    return "\n".join([*rows, ""])
