"""One sentence of every structure, German and English written by hand."""

import pytest

from regard.data.worlds.scenes.clause import Clause, Predicate
from regard.data.worlds.scenes.compound import (
    ALTHOUGH,
    AND,
    BECAUSE,
    BUT,
    THAT,
    WHILE,
    coordinate,
    give_reason,
    nest,
    subordinate,
)
from regard.data.worlds.scenes.modifiers import (
    ADJECTIVES,
    ER,
    HER,
    HIS,
    ICH,
    MANNERS,
    MY,
    NO,
    NONE,
    NUMBERS,
    OF_THE_GIRL,
    OUR,
    SIE,
    THE,
    THEIR,
    THIS,
    TIMES,
    WIR,
    A,
)
from regard.data.worlds.scenes.nouns import NOUNS
from regard.data.worlds.scenes.phrase import Location, Phrase, own, pronoun_for
from regard.data.worlds.scenes.places import RELATIONS
from regard.data.worlds.scenes.simple import make_question, make_statement
from regard.data.worlds.scenes.verbs import (
    CAN,
    FUTURE,
    MAY,
    MUST,
    SHOULD,
    VERBS,
    WANT,
    WOULD_LIKE,
)
from regard.data.worlds.scenes.words import to_scene


def np(noun, determiner=THE, *adjectives, plural=False, number=None):
    index = None if number is None else [german for german, _ in NUMBERS].index(number)
    described = tuple(ADJECTIVES[adjective] for adjective in adjectives)
    return Phrase(NOUNS[noun], determiner, described, plural or number is not None, index)


def verb(infinitive, english=None):
    return next(v for v in VERBS if v.infinitive == infinitive and english in (None, v.english))


def place(german, case, phrase):
    relation = next(
        r for r in RELATIONS if (r.german, r.case, r.noun) == (german, case, phrase.noun)
    )
    return Location(relation, phrase)


def time(german):
    return next(t for t in TIMES if t.german == german)


def of(name):
    return Predicate(ADJECTIVES[name])


EATS = Clause(np("Junge"), verb("essen"), object=np("Apfel", A, "rot"))
CALLS = Clause(np("Frau"), verb("anrufen"), object=np("Bruder", HER))
SLEEPS = Clause(np("Hund"), verb("schlafen"))
IN_GARDEN = place("in", "dative", np("Garten"))
READS = Clause(np("Vater"), verb("lesen"), object=np("Zeitung", A))

STRUCTURES = [
    # main clauses, case and adjective endings
    (make_statement(SLEEPS), "Der Hund schläft.", "The dog is sleeping."),
    (make_statement(EATS), "Der Junge isst einen roten Apfel.", "The boy is eating a red apple."),
    (
        make_statement(Clause(np("Katze", THE, "klein", "schwarz"), verb("sehen"), object=np("Junge"))),
        "Die kleine schwarze Katze sieht den Jungen.",
        "The small black cat sees the boy.",
    ),
    (
        make_statement(Clause(np("Pferd", A, "alt"), verb("sehen"), object=np("Mann", THIS, "jung"))),
        "Ein altes Pferd sieht diesen jungen Mann.",
        "An old horse sees this young man.",
    ),
    (
        make_statement(Clause(WIR, verb("trinken"), object=np("Wasser", NONE, "kalt"))),
        "Wir trinken kaltes Wasser.",
        "We are drinking cold water.",
    ),
    (
        make_statement(
            Clause(np("Hund", NONE, "müde", number="drei"), verb("liegen"), place=IN_GARDEN)
            ._replace(place=place("auf", "dative", np("Teppich", THE, "grün")))
        ),
        "Drei müde Hunde liegen auf dem grünen Teppich.",
        "Three tired dogs are lying on the green carpet.",
    ),
    # dative
    (
        make_statement(Clause(np("Lehrerin"), verb("helfen"), object=np("Kind", THE, plural=True))),
        "Die Lehrerin hilft den Kindern.",
        "The teacher is helping the children.",
    ),
    (
        make_statement(
            Clause(
                np("Großmutter", OUR),
                verb("geben"),
                recipient=np("Kind", THE, "hungrig"),
                object=np("Orange", A),
            )
        ),
        "Unsere Großmutter gibt dem hungrigen Kind eine Orange.",
        "Our grandmother is giving the hungry child an orange.",
    ),
    # separable verbs and possessives
    (make_statement(CALLS), "Die Frau ruft ihren Bruder an.", "The woman is calling her brother."),
    (
        make_statement(Clause(np("Mädchen"), verb("anrufen"), object=np("Mutter", OF_THE_GIRL))),
        "Das Mädchen ruft seine Mutter an.",
        "The girl is calling her mother.",
    ),
    (
        make_statement(Clause(ICH, verb("aufräumen"), object=np("Zimmer", MY))),
        "Ich räume mein Zimmer auf.",
        "I am tidying up my room.",
    ),
    # place and direction
    (
        make_statement(Clause(np("Hund"), verb("laufen"), place=place("in", "accusative", np("Garten")))),
        "Der Hund läuft in den Garten.",
        "The dog is running into the garden.",
    ),
    (
        make_statement(SLEEPS._replace(place=IN_GARDEN)),
        "Der Hund schläft im Garten.",
        "The dog is sleeping in the garden.",
    ),
    (
        make_statement(Clause(np("Frau"), verb("gehen"), place=place("zu", "dative", np("Schule")))),
        "Die Frau geht zur Schule.",
        "The woman is walking to the school.",
    ),
    (
        make_statement(
            Clause(
                np("Mann"),
                verb("legen"),
                object=np("Buch", plural=True),
                place=place("auf", "accusative", np("Tisch")),
            )
        ),
        "Der Mann legt die Bücher auf den Tisch.",
        "The man is putting the books onto the table.",
    ),
    (
        make_statement(Clause(SIE, verb("einkaufen"), place=place("auf", "dative", np("Markt")))),
        "Sie kauft auf dem Markt ein.",
        "She is shopping at the market.",
    ),
    (
        make_statement(Clause(np("Kind"), verb("tragen", "wear"), object=np("Hut", A, "teuer"))),
        "Das Kind trägt einen teuren Hut.",
        "The child is wearing an expensive hat.",
    ),
    (
        make_statement(Clause(np("Kind"), verb("tragen", "carry"), object=np("Korb", A))),
        "Das Kind trägt einen Korb.",
        "The child is carrying a basket.",
    ),
    # verb second after an adverb or a place
    (
        make_statement(READS._replace(time=time("heute")), "time"),
        "Heute liest der Vater eine Zeitung.",
        "Today the father is reading a newspaper.",
    ),
    (
        make_statement(CALLS._replace(time=time("jeden Tag")), "time"),
        "Jeden Tag ruft die Frau ihren Bruder an.",
        "Every day the woman calls her brother.",
    ),
    (
        make_statement(READS._replace(time=time("manchmal")), "time"),
        "Manchmal liest der Vater eine Zeitung.",
        "Sometimes the father reads a newspaper.",
    ),
    (
        make_statement(READS._replace(time=time("oft"))),
        "Der Vater liest oft eine Zeitung.",
        "The father often reads a newspaper.",
    ),
    (
        make_statement(SLEEPS._replace(subject=np("Katze", A, "grau"), place=IN_GARDEN), "place"),
        "Im Garten schläft eine graue Katze.",
        "There is a grey cat sleeping in the garden.",
    ),
    (
        make_statement(SLEEPS._replace(place=IN_GARDEN), "place"),
        "Im Garten schläft der Hund.",
        "In the garden the dog is sleeping.",
    ),
    # tenses and modals
    (
        make_statement(CALLS._replace(perfect=True)),
        "Die Frau hat ihren Bruder angerufen.",
        "The woman has called her brother.",
    ),
    (
        make_statement(Clause(np("Zug"), verb("ankommen"), perfect=True)),
        "Der Zug ist angekommen.",
        "The train has arrived.",
    ),
    (
        make_statement(EATS._replace(perfect=True, time=time("gestern")), "time"),
        "Gestern hat der Junge einen roten Apfel gegessen.",
        "Yesterday the boy ate a red apple.",
    ),
    (
        make_statement(CALLS._replace(modal=WANT)),
        "Die Frau will ihren Bruder anrufen.",
        "The woman wants to call her brother.",
    ),
    (
        make_statement(CALLS._replace(modal=FUTURE, time=time("morgen"))),
        "Die Frau wird morgen ihren Bruder anrufen.",
        "The woman will call her brother tomorrow.",
    ),
    (
        make_statement(Clause(ICH, verb("schlafen"), modal=FUTURE, time=time("bald"))),
        "Ich werde bald schlafen.",
        "I will sleep soon.",
    ),
    (
        make_statement(EATS._replace(modal=WOULD_LIKE, subject=np("Junge", THE, plural=True))),
        "Die Jungen möchten einen roten Apfel essen.",
        "The boys would like to eat a red apple.",
    ),
    (make_statement(SLEEPS._replace(modal=MUST)), "Der Hund muss schlafen.", "The dog must sleep."),
    (make_statement(SLEEPS._replace(modal=SHOULD)), "Der Hund soll schlafen.", "The dog should sleep."),
    # negation
    (
        make_statement(SLEEPS._replace(negated=True, place=IN_GARDEN)),
        "Der Hund schläft nicht im Garten.",
        "The dog is not sleeping in the garden.",
    ),
    (
        make_statement(EATS._replace(negated=True, object=np("Apfel", NO))),
        "Der Junge isst keinen Apfel.",
        "The boy is not eating an apple.",
    ),
    (
        make_statement(Clause(np("Mann"), verb("kennen"), object=np("Ärztin"), negated=True)),
        "Der Mann kennt die Ärztin nicht.",
        "The man does not know the doctor.",
    ),
    (
        make_statement(CALLS._replace(negated=True, perfect=True, time=time("gestern"))),
        "Die Frau hat gestern ihren Bruder nicht angerufen.",
        "The woman did not call her brother yesterday.",
    ),
    (
        make_statement(SLEEPS._replace(negated=True, modal=CAN)),
        "Der Hund kann nicht schlafen.",
        "The dog cannot sleep.",
    ),
    # copula and comparison
    (
        make_statement(Clause(np("Haus"), predicate=Predicate(ADJECTIVES["alt"], ("sehr", "very")))),
        "Das Haus ist sehr alt.",
        "The house is very old.",
    ),
    (
        make_statement(Clause(np("Uhr"), predicate=Predicate(ADJECTIVES["teuer"], than=np("Lampe", THIS)))),
        "Die Uhr ist teurer als diese Lampe.",
        "The clock is more expensive than this lamp.",
    ),
    # questions
    (make_question(CALLS), "Ruft die Frau ihren Bruder an?", "Is the woman calling her brother?"),
    (
        make_question(Clause(np("Mann"), verb("sehen"), object=np("Hund"))),
        "Sieht der Mann den Hund?",
        "Does the man see the dog?",
    ),
    (
        make_question(EATS._replace(modal=MAY)),
        "Darf der Junge einen roten Apfel essen?",
        "May the boy eat a red apple?",
    ),
    (
        make_question(READS._replace(modal=WOULD_LIKE)),
        "Möchte der Vater eine Zeitung lesen?",
        "Would the father like to read a newspaper?",
    ),
    (
        make_question(SLEEPS, ("wo", "where")),
        "Wo schläft der Hund?",
        "Where is the dog sleeping?",
    ),
    # verb last
    (
        subordinate(READS, WHILE, CALLS, first=False),
        "Der Vater liest eine Zeitung, während die Frau ihren Bruder anruft.",
        "The father is reading a newspaper while the woman is calling her brother.",
    ),
    (
        subordinate(READS, WHILE, CALLS, first=True),
        "Während die Frau ihren Bruder anruft, liest der Vater eine Zeitung.",
        "While the woman is calling her brother, the father is reading a newspaper.",
    ),
    (
        subordinate(Clause(ER, verb("wissen")), THAT, CALLS._replace(perfect=True), first=False),
        "Er weiß, dass die Frau ihren Bruder angerufen hat.",
        "He knows that the woman has called her brother.",
    ),
    (
        subordinate(Clause(ICH, verb("glauben")), THAT, EATS._replace(modal=WANT), first=False),
        "Ich glaube, dass der Junge einen roten Apfel essen will.",
        "I believe that the boy wants to eat a red apple.",
    ),
    (
        give_reason(SLEEPS, BECAUSE, of("müde"), first=False),
        "Der Hund schläft, weil er müde ist.",
        "The dog is sleeping because it is tired.",
    ),
    (
        give_reason(
            Clause(np("Mädchen"), verb("singen")), ALTHOUGH, of("traurig"), first=True
        ),
        "Obwohl das Mädchen traurig ist, singt es.",
        "Although the girl is sad, she is singing.",
    ),
    # clauses side by side and one inside the other
    (
        coordinate(SLEEPS, BUT, Clause(np("Katze"), verb("spielen"))),
        "Der Hund schläft, aber die Katze spielt.",
        "The dog is sleeping, but the cat is playing.",
    ),
    (
        coordinate(SLEEPS, AND, Clause(np("Katze"), verb("spielen"))),
        "Der Hund schläft und die Katze spielt.",
        "The dog is sleeping and the cat is playing.",
    ),
    (
        nest(
            Clause(np("Mann"), verb("singen"), manner=MANNERS["laut"]),
            Clause(np("Mann"), verb("arbeiten"), place=IN_GARDEN),
        ),
        "Der Mann, der im Garten arbeitet, singt laut.",
        "The man who is working in the garden is singing loudly.",
    ),
    (
        nest(
            Clause(np("Kuh", plural=True), verb("weglaufen")),
            Clause(np("Kuh", plural=True), verb("schlafen")),
        ),
        "Die Kühe, die schlafen, laufen weg.",
        "The cows that are sleeping are running away.",
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("sentence", "german", "english"), STRUCTURES, ids=[german for _, german, _ in STRUCTURES]
)
def test_a_structure_reads_as_a_native_speaker_would_say_it(sentence, german, english):
    scene = to_scene(sentence)
    assert (scene.source, scene.target) == (german, english)


def links(sentence):
    scene = to_scene(sentence)
    source = [word.strip(".,?") for word in scene.source.split()]
    target = [word.strip(".,?") for word in scene.target.split()]
    return {f"{source[s]}-{target[t]}" for s, t in scene.alignment}


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        (
            make_statement(CALLS),
            "Die-The Frau-woman ruft-is ruft-calling an-is an-calling ihren-her Bruder-brother",
        ),
        (
            make_statement(SLEEPS._replace(place=IN_GARDEN)),
            "Der-The Hund-dog schläft-is schläft-sleeping im-in im-the Garten-garden",
        ),
        (
            make_statement(EATS._replace(negated=True, object=np("Apfel", NO))),
            "Der-The Junge-boy isst-is isst-eating keinen-not keinen-an Apfel-apple",
        ),
        (
            make_statement(EATS._replace(perfect=True, time=time("gestern")), "time"),
            "Gestern-Yesterday hat-ate gegessen-ate der-the Junge-boy einen-a roten-red Apfel-apple",
        ),
        (
            make_statement(CALLS._replace(modal=WANT)),
            "Die-The Frau-woman will-wants will-to ihren-her Bruder-brother anrufen-call",
        ),
        (
            give_reason(SLEEPS, BECAUSE, of("müde"), first=False),
            "Der-The Hund-dog schläft-is schläft-sleeping weil-because er-it müde-tired ist-is",
        ),
        (
            make_statement(SLEEPS._replace(negated=True, modal=CAN)),
            "Der-The Hund-dog kann-cannot nicht-cannot schlafen-sleep",
        ),
    ],
)
def test_the_alignment_links_what_a_reader_would_link(sentence, expected):
    assert links(sentence) == set(expected.split())


def test_content_is_nouns_adjectives_verbs_numbers_and_adverbs():
    clause = Clause(
        np("Hund", NONE, "müde", number="drei"),
        verb("schlafen"),
        time=time("heute"),
        place=IN_GARDEN,
    )
    scene = to_scene(make_statement(clause))
    words = scene.target.strip(".").split()
    assert [words[index] for index in scene.content] == [
        *("Three", "tired", "dogs", "sleeping", "garden", "today"),
    ]


@pytest.mark.parametrize(
    ("noun", "plural", "pronoun", "meaning", "possessive"),
    [
        ("Mann", False, "er", "he", HIS),
        ("Frau", False, "sie", "she", HER),
        ("Mädchen", False, "es", "she", OF_THE_GIRL),
        ("Frau", True, "sie", "they", THEIR),
        ("Katze", False, "sie", "it", THE),
        ("Hund", False, "er", "it", THE),
    ],
)
def test_a_pronoun_goes_by_gender_in_german_and_by_sex_in_english(
    noun, plural, pronoun, meaning, possessive
):
    phrase = np(noun, plural=plural)
    assert pronoun_for(phrase)[:2] == (pronoun, meaning)
    assert own(phrase) is possessive
