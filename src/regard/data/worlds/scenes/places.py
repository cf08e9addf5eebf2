"""Where things happen: a preposition, the case it takes, and what it is called in English.

The case tells *in the garden* (dative) from *into the garden* (accusative), and the noun tells
*on the table* from *at the market*, as in both languages.
"""

from functools import cache
from typing import NamedTuple

from regard.data.worlds.scenes.german import Case
from regard.data.worlds.scenes.nouns import NOUNS, Noun


class Relation(NamedTuple):
    """A preposition with one noun after it."""

    german: str
    case: Case
    english: str
    noun: Noun
    group: str


# group : preposition, case : English : nouns
_TABLE = """
home : in dative : in : Haus Küche Zimmer Garten
work : in dative : in : Büro Schule Restaurant Laden Stadt
work : auf dative : in : Feld
work : auf dative : at : Markt
green : in dative : in : Park Wald Garten
green : auf dative : in : Wiese Feld
green : an dative : by : Fluss See
green : an dative : on : Strand
near : unter dative : under : Baum Brücke
near : hinter dative : behind : Haus Schule Mauer Zaun
near : neben dative : beside : Baum Bank Haus
near : vor dative : in front of : Haus Schule Restaurant Laden Tür
meet : an dative : at : Bahnhof
meet : in dative : in : Stadt Dorf
seat : auf dative : on : Sofa Bett Bank Teppich
shopping : in dative : in : Stadt Dorf
shopping : auf dative : at : Markt
water : in dative : in : See Fluss
shelf : auf dative : on : Tisch Regal
shelf : neben dative : beside : Bett Sofa
surface : auf dative : on : Tisch Regal Stuhl Bett Teppich
surface : unter dative : under : Tisch Bett Stuhl
surface : neben dative : beside : Bett Lampe Sofa
parking : vor dative : in front of : Haus Schule Restaurant Laden Bahnhof
parking : hinter dative : behind : Haus Schule Laden
platform : an dative : at : Bahnhof
into : in accusative : into : Haus Küche Zimmer Garten Park Wald Laden Büro Schule Restaurant
through : durch accusative : through : Park Wald Stadt Garten Dorf
ride : durch accusative : through : Stadt Dorf Wald
across : über accusative : across : Straße Brücke Wiese Feld
crossing : über accusative : across : Brücke
to : zu dative : to : Bahnhof Schule Markt Fluss See Strand
onto : auf accusative : onto : Tisch Sofa Bett Stuhl Bank
over : über accusative : over : Zaun Mauer
dive : in accusative : into : See Fluss
above : über accusative : over : Haus Dach Dorf Wald
roost : auf accusative : onto : Dach
up : auf accusative : up : Baum Berg
from : aus dative : out of : Haus Küche Zimmer Garten Wald Schule
top : auf accusative : onto : Tisch Regal
soft : auf accusative : onto : Stuhl Bett Sofa
inside : in accusative : into : Kiste Korb Tasche Koffer
"""


def _relations(row: str) -> list[Relation]:
    group, preposition, english, nouns = (part.strip() for part in row.split(":"))
    german, case = preposition.split()
    full: Case = "dative" if case == "dative" else "accusative"
    return [Relation(german, full, english, NOUNS[noun], group) for noun in nouns.split()]


RELATIONS = tuple(
    relation for row in filter(None, _TABLE.splitlines()) for relation in _relations(row)
)


@cache
def relations_of(groups: str) -> tuple[Relation, ...]:
    """Find the places of some groups."""
    wanted = groups.split()
    return tuple(relation for relation in RELATIONS if relation.group in wanted)
