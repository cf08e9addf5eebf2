"""Adjectives, determiners, numbers, pronouns and adverbs of the scenes."""

from typing import Literal, NamedTuple

from regard.data.worlds.scenes.english import Person
from regard.data.worlds.scenes.german import Pattern
from regard.data.worlds.scenes.nouns import Noun


class Adjective(NamedTuple):
    """An adjective, the stem it is inflected on, its comparative, and the nouns it suits."""

    german: str
    stem: str
    english: str
    kinds: frozenset[str]
    colour: bool
    comparative: str = ""
    english_comparative: str = ""

    def suits(self, noun: Noun) -> bool:
        return bool(self.kinds & (noun.kinds | {noun.german}))


# German (stem) : English : kinds of noun : comparative : English comparative
_ADJECTIVES = """
groß : big : animal fruit portable building furniture machine green : größer : bigger
klein : small : young animal fruit portable building furniture inside green : kleiner : smaller
alt : old : adult elder animal portable clothing vehicle building furniture town : älter : older
neu : new : text portable machine vehicle clothing building furniture structure opening
jung : young : adult animal : jünger : younger
schön : beautiful : clothing tale Blume Bild building green town vessel : schöner : more beautiful
freundlich : friendly : person pet : freundlicher : friendlier
glücklich : happy : person
traurig : sad : young tale
müde müd : tired : person pet farm
krank : sick : person pet farm
hungrig : hungry : person animal
durstig : thirsty : person animal
klug : clever : person pet wild : klüger : cleverer
fleißig : diligent : person : fleißiger : more diligent
stark : strong : adult farm Bär : stärker : stronger
faul : lazy : person pet farm
schnell : fast : vehicle Pferd Hund wild : schneller : faster
schwer : heavy : luggage furniture machine dishes : schwerer : heavier
leicht : light : luggage clothing vessel : leichter : lighter
teuer teur : expensive : machine clothing vessel luggage Käse Restaurant : teurer : more expensive
billig : cheap : machine clothing vessel luggage drink fruit Restaurant : billiger : cheaper
schmutzig : dirty : clothing vehicle dishes opening inside furniture luggage
sauber : clean : clothing vehicle dishes opening inside furniture
kaputt : broken : machine dishes toy opening Stuhl Tisch Regal Bett Sofa
leer : empty : vessel luggage inside building Bus Zug Teller
voll : full : vessel luggage Bus Zug Teller
süß : sweet : fruit baked Tee Saft
frisch : fresh : food Milch Saft
warm : warm : Milch Suppe Brot Kuchen clothing Zimmer : wärmer : warmer
kalt : cold : drink Suppe Zimmer : kälter : colder
heiß : hot : Tee Kaffee Suppe Milch
lang : long : text Brücke Straße Mauer Kleid Mantel : länger : longer
kurz : short : text Straße Kleid : kürzer : shorter
spannend : exciting : text
interessant : interesting : text Bild town : interessanter : more interesting
ruhig : quiet : inside green Straße Dorf Strand Restaurant
dunkel dunkl : dark : inside Wald Straße : dunkler : darker
rot : red : clothing vehicle luggage vessel furniture opening toy Apfel Tomate Kirsche Blume colour
blau : blue : clothing machine vehicle luggage vessel furniture opening toy Blume colour
grün : green : clothing vehicle luggage vessel furniture opening toy Apfel Birne Wiese colour
gelb : yellow : Vogel clothing vehicle luggage vessel toy Birne Blume Banane colour
schwarz : black : clothing machine vehicle luggage furniture pet Pferd Kuh Schaf Vogel Ziege colour
weiß : white : clothing machine vehicle furniture opening vessel pet farm Vogel Maus colour
braun : brown : clothing luggage furniture opening pet Pferd Kuh Bär Ziege Kaninchen colour
grau : grey : clothing vehicle furniture Katze Esel Maus Vogel Kaninchen Mauer colour
"""


def _adjective(row: str) -> Adjective:
    german, english, kinds, *comparative = (part.strip() for part in row.split(":"))
    word, *stem = german.split()
    suited = frozenset(kinds.split())
    return Adjective(
        word,
        stem[0] if stem else word,
        english,
        suited - {"colour"},
        "colour" in suited,
        *comparative,
    )


ADJECTIVES = {
    adjective.german: adjective
    for adjective in map(_adjective, filter(None, _ADJECTIVES.splitlines()))
}


class Determiner(NamedTuple):
    """What comes before adjectives and noun, and how it makes the adjective end."""

    stem: str
    pattern: Pattern
    english: str
    english_plural: str = ""


THE = Determiner("der", "weak", "the", "the")
THIS = Determiner("dies", "weak", "this", "these")
A = Determiner("ein", "mixed", "a")
NO = Determiner("kein", "mixed", "a")
NONE = Determiner("", "strong", "")
MY = Determiner("mein", "mixed", "my", "my")
OUR = Determiner("unser", "mixed", "our", "our")
HIS = Determiner("sein", "mixed", "his", "his")
HER = Determiner("ihr", "mixed", "her", "her")
THEIR = Determiner("ihr", "mixed", "their", "their")
OF_THE_GIRL = Determiner("sein", "mixed", "her", "her")
"""*Das Mädchen ruft seine Mutter an*: neuter in German, *her* in English."""

NUMBERS = tuple(
    zip(
        ("zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn", "zwölf"),
        ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve"),
        strict=True,
    )
)


class Pronoun(NamedTuple):
    """A subject of one word."""

    german: str
    english: str
    person: Person
    own: Determiner
    """The possessive that points back at it."""


ICH = Pronoun("ich", "I", "first", MY)
WIR = Pronoun("wir", "we", "plural", OUR)
ER = Pronoun("er", "he", "third", HIS)
SIE = Pronoun("sie", "she", "third", HER)
PRONOUNS = (ICH, WIR, ER, SIE)


class Adverb(NamedTuple):
    """When or how often, and what it does to the English tense."""

    german: str
    english: str
    meaning: Literal["now", "habit", "past", "future", "manner"]
    place: Literal["end", "verb"] = "end"
    """Where English puts it: at the end, or before the verb (*often reads*)."""
    fronts: bool = True


TIMES = (
    Adverb("heute", "today", "now"),
    Adverb("jetzt", "now", "now"),
    Adverb("oft", "often", "habit", "verb", fronts=False),
    Adverb("immer", "always", "habit", "verb", fronts=False),
    Adverb("selten", "rarely", "habit", "verb", fronts=False),
    Adverb("nie", "never", "habit", "verb", fronts=False),
    Adverb("manchmal", "sometimes", "habit", "verb"),
    Adverb("jeden Tag", "every day", "habit"),
    Adverb("am Abend", "in the evening", "habit"),
    Adverb("am Wochenende", "at the weekend", "habit"),
    Adverb("am Morgen", "in the morning", "habit"),
    Adverb("gestern", "yesterday", "past"),
    Adverb("letzte Woche", "last week", "past"),
    Adverb("am Montag", "on Monday", "past"),
    Adverb("am Sonntag", "on Sunday", "past"),
    Adverb("morgen", "tomorrow", "future"),
    Adverb("bald", "soon", "future"),
)
MANNERS = {
    manner.german: manner
    for manner in (
        Adverb("schnell", "quickly", "manner"),
        Adverb("langsam", "slowly", "manner"),
        Adverb("leise", "quietly", "manner"),
        Adverb("laut", "loudly", "manner"),
        Adverb("ruhig", "calmly", "manner"),
        Adverb("fröhlich", "happily", "manner"),
    )
}
MANNERS_OF = {
    "schlafen": "ruhig",
    "arbeiten": "schnell langsam ruhig",
    "spielen": "laut leise fröhlich",
    "singen": "laut leise fröhlich",
    "tanzen": "langsam fröhlich",
    "lachen": "laut leise",
    "weinen": "laut leise",
    "schwimmen": "schnell langsam",
    "gehen": "schnell langsam leise",
    "laufen": "schnell langsam",
    "fahren": "schnell langsam",
    "kommen": "schnell langsam leise",
    "fliegen": "schnell langsam",
}
