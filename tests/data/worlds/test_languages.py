"""Every language against a judge of its own, written differently from the generator."""

import re
from itertools import product

import pytest

from regard.data.worlds.languages import BRACKETS, LANGUAGES, draw_language, draw_split, is_dyck
from regard.errors import UsageError

LABELLED = ("parity", "dyck", "aa")


def pairs(name, lengths=range(1, 14), count=997, seed=3, **rest):
    drawn = draw_language(name, lengths=lengths, count=count, seed=seed, **rest)
    return [(source.split(" "), target) for source, target in drawn]


def deepest(text):
    level = [0]
    for symbol in text:
        level.append(level[-1] + (1 if symbol in "([{<" else -1))
    return max(level)


def balanced(text):
    while (shorter := re.sub(r"\(\)|\[\]|\{\}|<>", "", text)) != text:
        text = shorter
    return not text


@pytest.mark.parametrize("kinds", [1, 2])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_dyck_is_judged_rightly_on_every_string_up_to_six_symbols(kinds, depth):
    symbols = "".join(BRACKETS[:kinds])
    for length in range(1, 7):
        for string in product(symbols, repeat=length):
            text = "".join(string)
            expected = balanced(text) and deepest(text) <= depth
            assert is_dyck(string, kinds=kinds, depth=depth) == expected, text


def test_dyck_counts_as_many_strings_as_catalan_says():
    within = [
        sum(is_dyck(s, kinds=1, depth=9) for s in product("()", repeat=2 * n)) for n in range(1, 6)
    ]
    assert within == [1, 2, 5, 14, 42]


@pytest.mark.parametrize("kinds", [1, 2, 4])
@pytest.mark.parametrize("depth", [1, 3, 5])
def test_dyck_labels_are_true_and_brackets_of_every_kind_occur(kinds, depth):
    drawn = pairs("dyck", kinds=kinds, depth=depth)
    for source, target in drawn:
        text = "".join(source)
        assert (target == "yes") == (balanced(text) and deepest(text) <= depth), text
    assert {symbol for source, _ in drawn for symbol in source} == set("".join(BRACKETS[:kinds]))
    assert max(deepest(source) for source, target in drawn if target == "yes") == depth


def test_a_string_that_just_fails_dyck_is_near_one_that_belongs():
    for source, target in pairs("dyck", lengths=(4, 6), count=101):
        if target == "no":
            near = (
                [*source[:i], symbol, *source[i + 1 :]]
                for i in range(len(source))
                for symbol in "()[]"
            )
            near = list(near)
            nearer = [
                [*one[:i], symbol, *one[i + 1 :]]
                for one in near
                for i in range(len(one))
                for symbol in "()[]"
            ]
            assert any(is_dyck(one, kinds=2, depth=3) for one in near + nearer)


def test_copy_reverse_and_first_are_what_they_are_called():
    for source, target in pairs("copy"):
        assert target.split(" ") == source
    for source, target in pairs("reverse"):
        assert target.split(" ")[::-1] == source
    for source, target in pairs("first"):
        assert target == source[0]


def test_parity_is_the_last_bit_of_the_number_of_ones():
    drawn = pairs("parity")
    for source, target in drawn:
        assert set(source) <= {"0", "1"}
        assert target == ("yes" if sum(map(int, source)) & 1 else "no")
    seen = {"".join(source) for source, _ in drawn if len(source) == 3}
    assert seen == {"".join(bits) for bits in product("01", repeat=3)}


def test_aa_is_matched_by_its_own_regular_expression():
    for source, target in pairs("aa"):
        assert (target == "yes") == bool(re.fullmatch("(aa)*", "".join(source)))


@pytest.mark.parametrize("name", LABELLED)
def test_labels_are_balanced(name):
    targets = [target for _, target in pairs(name, count=500)]
    assert targets.count("yes") == targets.count("no") == 250


@pytest.mark.parametrize("name", LANGUAGES)
def test_lengths_are_kept_up_to_the_one_symbol_a_label_may_need(name):
    expected = {"aa": {5, 6, 11, 12}, "dyck": {6, 12}}.get(name, {5, 11})
    lengths = {len(source) for source, _ in pairs(name, lengths=(5, 11))}
    assert lengths == expected


@pytest.mark.parametrize("name", LANGUAGES)
def test_the_same_seed_draws_the_same_and_another_does_not(name):
    assert pairs(name, seed=5) == pairs(name, seed=5)
    assert pairs(name, seed=5) != pairs(name, seed=7)


@pytest.mark.parametrize("name", LANGUAGES)
def test_every_language_has_three_splits(name, unchecked):
    sizes = {split: len(list(draw_split(name, split))) for split in ("train", "valid", "test")}
    assert sizes == {"train": 10_000, "valid": 500, "test": 1_000}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ({"name": "palindrome"}, "palindrome"),
        ({"lengths": ()}, "lengths of at least 1"),
        ({"lengths": (0, 3)}, "lengths of at least 1"),
        ({"kinds": 5}, "kinds=5"),
        ({"kinds": 0}, "kinds=0"),
        ({"depth": 0}, "depth=0"),
    ],
)
def test_a_language_that_cannot_be_is_refused(call, message):
    arguments = {"name": "dyck", "lengths": (3,), "count": 1} | call
    with pytest.raises(UsageError, match=message):
        next(draw_language(arguments.pop("name"), **arguments))
