"""School-grammar tables, written by hand: whoever knows the language can check them by reading."""

import pytest

from regard.data.worlds.scenes import english, german
from regard.data.worlds.scenes.modifiers import ADJECTIVES
from regard.data.worlds.scenes.nouns import NOUNS, nouns_of
from regard.data.worlds.scenes.places import RELATIONS
from regard.data.worlds.scenes.verbs import VERBS

CASES = ("nominative", "accusative", "dative")
COLUMNS = ("m", "f", "n", "plural")

# der alte Mann, die alte Frau, das alte Haus, die alten Häuser; ein …, keine …; null article
ARTICLES = {
    "der": "der die das die  den die das die  dem der dem den",
    "dies": "dieser diese dieses diese  diesen diese dieses diese  diesem dieser diesem diesen",
    "kein": "kein keine kein keine  keinen keine kein keine  keinem keiner keinem keinen",
    "unser": "unser unsere unser unsere  unseren unsere unser unsere  unserem unserer unserem unseren",
}
ADJECTIVE_FORMS = {
    "weak": "alte alte alte alten  alten alte alte alten  alten alten alten alten",
    "mixed": "alter alte altes alten  alten alte altes alten  alten alten alten alten",
    "strong": "alter alte altes alte  alten alte altes alte  altem alter altem alten",
}


@pytest.mark.parametrize("stem", ARTICLES)
def test_articles_follow_gender_case_and_number(stem):
    expected = ARTICLES[stem].split()
    assert [german.article(stem, case, of) for case in CASES for of in COLUMNS] == expected


@pytest.mark.parametrize("pattern", ADJECTIVE_FORMS)
def test_adjectives_end_as_the_article_before_them_demands(pattern):
    expected = ADJECTIVE_FORMS[pattern].split()
    assert [
        german.adjective("alt", pattern, case, of) for case in CASES for of in COLUMNS
    ] == expected


@pytest.mark.parametrize(
    ("noun", "forms"),
    {
        "Hund": "Hund Hund Hund Hunde Hunde Hunden",
        "Kind": "Kind Kind Kind Kinder Kinder Kindern",
        "Frau": "Frau Frau Frau Frauen Frauen Frauen",
        "Junge": "Junge Jungen Jungen Jungen Jungen Jungen",
        "Student": "Student Studenten Studenten Studenten Studenten Studenten",
        "Nachbar": "Nachbar Nachbarn Nachbarn Nachbarn Nachbarn Nachbarn",
        "Bär": "Bär Bären Bären Bären Bären Bären",
        "Lehrer": "Lehrer Lehrer Lehrer Lehrer Lehrer Lehrern",
        "Auto": "Auto Auto Auto Autos Autos Autos",
        "Mädchen": "Mädchen Mädchen Mädchen Mädchen Mädchen Mädchen",
        "Apfel": "Apfel Apfel Apfel Äpfel Äpfel Äpfeln",
    }.items(),
)
def test_nouns_follow_case_and_number(noun, forms):
    said = [
        german.noun_form(NOUNS[noun], case, plural=plural)
        for plural in (False, True)
        for case in CASES
    ]
    assert said == forms.split()


@pytest.mark.parametrize(
    ("infinitive", "forms"),
    {
        "sehen": "sehe sieht sehen",
        "schlafen": "schlafe schläft schlafen",
        "arbeiten": "arbeite arbeitet arbeiten",
        "füttern": "füttere füttert füttern",
        "klettern": "klettere klettert klettern",
        "wissen": "weiß weiß wissen",
        "haben": "habe hat haben",
        "vergessen": "vergesse vergisst vergessen",
    }.items(),
)
def test_verbs_follow_the_person(infinitive, forms):
    third = next(verb.third for verb in VERBS if verb.infinitive == infinitive)
    said = [german.present(infinitive, third, person) for person in ("first", "third", "plural")]
    assert said == forms.split()


MOVING = """
gehen laufen springen fliegen fahren klettern kommen schwimmen folgen aufwachen
einschlafen aufstehen weglaufen ankommen abfahren zurückkommen
"""

PARTICIPLES = """
essen gegessen, lesen gelesen, schreiben geschrieben, trinken getrunken, schneiden geschnitten,
fangen gefangen, finden gefunden, treffen getroffen, vergessen vergessen, verlieren verloren,
helfen geholfen, bringen gebracht, wissen gewusst, anrufen angerufen, einladen eingeladen,
aufheben aufgehoben, ausziehen ausgezogen, mitbringen mitgebracht, reparieren repariert,
besuchen besucht, verkaufen verkauft, erzählen erzählt, singen gesungen, sitzen gesessen,
liegen gelegen, stehen gestanden, backen gebacken, ausleihen ausgeliehen
"""


def test_participles_are_those_of_the_dictionary():
    lexicon = {verb.infinitive: verb.participle for verb in VERBS}
    for row in PARTICIPLES.replace("\n", " ").split(","):
        infinitive, participle = row.split()
        assert lexicon[infinitive] == participle


def test_the_perfect_of_movement_and_of_change_is_with_sein():
    moved = {verb.infinitive for verb in VERBS if verb.auxiliary == "sein"}
    assert moved == set(MOVING.split())


@pytest.mark.parametrize(
    ("base", "forms"),
    {
        "walk": "walks walking walked",
        "dance": "dances dancing danced",
        "cry": "cries crying cried",
        "play": "plays playing played",
        "wash": "washes washing washed",
        "hug": "hugs hugging hugged",
        "shop": "shops shopping shopped",
        "visit": "visits visiting visited",
        "open": "opens opening opened",
        "repair": "repairs repairing repaired",
    }.items(),
)
def test_english_verbs_are_regular_by_rule(base, forms):
    made = (english.third_of(base), english.progressive_of(base), english.participle_of(base))
    assert list(made) == forms.split()


@pytest.mark.parametrize(
    ("base", "form"),
    {
        "lie": "lying",
        "see": "seeing",
        "sit": "sitting",
        "put": "putting",
        "run": "running",
        "swim": "swimming",
        "sleep": "sleeping",
        "write": "writing",
        "buy": "buying",
        "draw": "drawing",
        "give": "giving",
    }.items(),
)
def test_the_progressive_is_spelt_by_rule(base, form):
    assert english.progressive_of(base) == form


def test_have_and_do_are_irregular():
    assert english.present_of("have", "third") == "has"
    assert english.present_of("do", "third") == "does"
    assert english.present_of("do", "plural") == "do"
    assert [english.be(person) for person in ("first", "third", "plural")] == ["am", "is", "are"]


@pytest.mark.parametrize(
    ("word", "article"),
    {"apple": "an", "old": "an", "egg": "an", "umbrella": "an", "uncle": "an", "red": "a"}.items(),
)
def test_a_becomes_an_before_a_vowel(word, article):
    assert english.a_or_an(word) == article


def test_no_word_hides_its_first_sound_from_a_or_an():
    words = [noun.english for noun in NOUNS.values()] + [a.english for a in ADJECTIVES.values()]
    assert not [
        w for w in words if w.startswith(("hour", "honest", "heir", "uni", "use", "eu", "one"))
    ]


def test_a_preposition_a_case_and_a_noun_have_one_translation():
    meanings = {}
    for relation in RELATIONS:
        key = (relation.german, relation.case, relation.noun.german)
        assert meanings.setdefault(key, relation.english) == relation.english


def test_a_kind_names_nouns_and_a_capital_names_one():
    assert [noun.german for noun in nouns_of("opening Hund")] == ["Hund", "Tür", "Fenster"]
    with pytest.raises(AssertionError, match="opning"):
        nouns_of("opning")


def test_every_verb_has_somebody_to_do_it_and_something_to_do_it_to():
    for verb in VERBS:
        assert nouns_of(verb.subject)
        assert not verb.object or len(nouns_of(verb.object)) >= 1


def test_the_lexicon_is_as_large_as_promised():
    assert len(NOUNS) >= 100
    assert len({verb.infinitive for verb in VERBS}) >= 70
    assert len(ADJECTIVES) >= 40
