"""A table is one figure per setting; its votes come from a rule, a mapping, or an expectation."""

import torch

from regard.claims.claim import Claim, Figure, Measurement, claim
from regard.claims.counters import count_mixer, count_parameters, fit_exponent
from regard.claims.precision import difference, exact, find_dependencies
from regard.claims.seeds import Seeds, average_seeds, compare, draw_range, largest_spread
from regard.claims.table import draw_curves, draw_matrix, list_values, tabulate
from regard.layers.attention import Attention
from regard.layers.recurrent import Recurrent


def test_settings_fill_the_name_and_votes_come_from_one_of_three():
    losses = {("dot", 8): 2.0, ("dot", 64): 3.0}
    assert tabulate("loss, {}, size {}", losses) == (
        Figure("loss, dot, size 8", 2.0),
        Figure("loss, dot, size 64", 3.0),
    )
    votes = [
        [figure.supports for figure in tabulate("{}", {1: 5, 2: 7}, *args, **more)]
        for args, more in [
            ((lambda v: v > 6,), {}),
            (({2: False},), {}),
            ((), {"equal": {1: 5, 2: 6}}),
        ]
    ]
    assert votes == [[False, True], [None, False], [True, False]]
    assert tabulate("{}", {1: 5}, equal={1: 6})[0].given == 6
    assert tabulate("{}", {1: 5, 2: 5}, given={2: 5.1}, within=0.1)[1] == Figure(
        "2", 5, None, given=5.1, within=0.1
    )


def test_values_are_written_in_one_line():
    assert list_values("{} {:.1f}", {"a": 1, "b": 2}) == "a 1.0, b 2.0"
    assert list_values("{1:g} at {0}", {3: 0.5}, between="; ") == "0.5 at 3"


def test_lines_share_their_places_and_a_matrix_is_numbered():
    drawn = draw_curves("t", "x", [1, 2], {"a": [3, 4], "b": [5, 6]})
    assert [(line.name, line.xs, line.ys) for line in drawn.lines] == [
        ("a", [1, 2], [3, 4]),
        ("b", [1, 2], [5, 6]),
    ]
    picture = draw_matrix(torch.tensor([[0.5, 0.25, 0.25]]), "m", first=1)
    assert (picture.rows, picture.columns) == (["1"], ["1", "2", "3"])
    assert picture.weights == [[0.5, 0.25, 0.25]]


def test_seeds_are_summed_up():
    one, other = Seeds((4.0, 5.0)), Seeds((1.0, 3.0))
    assert (
        average_seeds({"a": one, "b": other}) == {"a": 4.5, "b": 2.0}
        and largest_spread(one, other) == 2.0
    )
    assert compare("gain", one, other) == Figure("gain", 2.5, True)
    line = draw_range("a", [1, 2], [one, other])
    assert (line.ys, line.lows, line.highs) == ([4.5, 2.0], [4.0, 1.0], [5.0, 3.0])


def test_costs_are_counted():
    states = torch.randn(1, 5, 6)
    assert count_mixer(Attention(6, 2), states) == 4 * 5 * 6**2 + 2 * 5**2 * 6
    assert count_mixer(Attention(6, 2), states, torch.randn(1, 7, 6)) == 24 * 36 + 2 * 5 * 7 * 6
    with exact():
        lstm = Recurrent(6, cell="lstm", causal=True)
        assert count_mixer(lstm, states.double()) == 8 * 5 * 6**2
    assert count_parameters(torch.nn.Linear(2, 3), torch.nn.Linear(3, 5)) == 9 + 20
    assert abs(fit_exponent([2, 4, 8], [12, 48, 192]) - 2) < 1e-12


def test_dependencies_are_the_places_with_a_derivative():
    states = torch.randn(1, 4, 3, requires_grad=True)
    assert find_dependencies(states[0, 1].sum() * states[0, 3, 0], states) == [1, 3]
    assert difference(torch.tensor([1.0, 2.0]), torch.tensor([1.5, 4.0])) == 2.0


def test_a_decorated_function_is_a_claim_called_by_its_name():
    words = dict.fromkeys(("statement", "meaning", "next_step"), "Words enough.")

    @claim(numbers=(1,), source="D0", layer="errors.py", **words)
    def two_is_two():
        """Count."""
        return Measurement("two", (Figure("two", 2, True),))

    assert isinstance(two_is_two, Claim)
    assert (two_is_two.name, two_is_two.method) == ("two-is-two", "Count.")
