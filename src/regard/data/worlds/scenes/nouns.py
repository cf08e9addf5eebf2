"""The nouns of the scenes: gender, plural and translation, and what can happen to each."""

from functools import cache
from typing import Literal, NamedTuple

Gender = Literal["m", "f", "n"]


class Noun(NamedTuple):
    """A noun of both languages; mass nouns (*Wasser*) have no plural, weak ones end in -n."""

    german: str
    gender: Gender
    plural: str
    english: str
    english_plural: str
    kinds: frozenset[str]

    @property
    def mass(self) -> bool:
        return not self.plural

    @property
    def weak(self) -> bool:
        return "weak" in self.kinds


_GENDER: dict[str, Gender] = {"der": "m", "die": "f", "das": "n"}

_TABLE = """
der Mann        Männer        man men                  person adult he
die Frau        Frauen        woman women              person adult she
das Kind        Kinder        child children           person young
der Junge       Jungen        boy boys                 person young he weak
das Mädchen     Mädchen       girl girls               person young she
der Vater       Väter         father fathers           person adult kin he single
die Mutter      Mütter        mother mothers           person adult kin she single
der Bruder      Brüder        brother brothers         person kin he
die Schwester   Schwestern    sister sisters           person kin she
der Sohn        Söhne         son sons                 person kin he
die Tochter     Töchter       daughter daughters       person kin she
der Onkel       Onkel         uncle uncles             person adult kin he
die Tante       Tanten        aunt aunts               person adult kin she
der Großvater   Großväter     grandfather grandfathers person elder kin he single
die Großmutter  Großmütter    grandmother grandmothers person elder kin she single
der Freund      Freunde       friend friends           person kin he
der Nachbar     Nachbarn      neighbour neighbours     person adult kin he weak
die Nachbarin   Nachbarinnen  neighbour neighbours     person adult kin she
der Lehrer      Lehrer        teacher teachers         person adult he
die Lehrerin    Lehrerinnen   teacher teachers         person adult she
der Arzt        Ärzte         doctor doctors           person adult he
die Ärztin      Ärztinnen     doctor doctors           person adult she
der Student     Studenten     student students         person adult he weak
die Studentin   Studentinnen  student students         person adult she
der Bäcker      Bäcker        baker bakers             person adult he
der Koch        Köche         cook cooks               person adult he
der Bauer       Bauern        farmer farmers           person adult he weak
die Gärtnerin   Gärtnerinnen  gardener gardeners       person adult she
der Gast        Gäste         guest guests             person adult he

der Hund        Hunde         dog dogs                 animal pet hunter
die Katze       Katzen        cat cats                 animal pet hunter
das Pferd       Pferde        horse horses             animal farm
die Kuh         Kühe          cow cows                 animal farm
das Schaf       Schafe        sheep sheep              animal farm
das Schwein     Schweine      pig pigs                 animal farm
die Ziege       Ziegen        goat goats               animal farm
der Esel        Esel          donkey donkeys           animal farm
die Ente        Enten         duck ducks               animal farm bird swimmer prey
der Vogel       Vögel         bird birds               animal bird prey
der Fuchs       Füchse        fox foxes                animal wild hunter
der Bär         Bären         bear bears               animal wild weak swimmer
die Maus        Mäuse         mouse mice               animal wild prey
das Kaninchen   Kaninchen     rabbit rabbits           animal wild prey
der Fisch       Fische        fish fish                swimmer prey

der Apfel       Äpfel         apple apples             food fruit
die Birne       Birnen        pear pears               food fruit
die Orange      Orangen       orange oranges           food fruit
die Banane      Bananen       banana bananas           food fruit
die Kirsche     Kirschen      cherry cherries          food fruit many
die Tomate      Tomaten       tomato tomatoes          food fruit
die Kartoffel   Kartoffeln    potato potatoes          food many
das Ei          Eier          egg eggs                 food many
der Kuchen      Kuchen        cake cakes               food baked
der Keks        Kekse         biscuit biscuits         food baked many
das Brot        -             bread -                  food baked
der Käse        -             cheese -                 food
die Suppe       -             soup -                   food
der Reis        -             rice -                   food
der Honig       -             honey -                  food
das Wasser      -             water -                  drink
die Milch       -             milk -                   drink
der Tee         -             tea -                    drink
der Kaffee      -             coffee -                 drink
der Saft        -             juice -                  drink

das Buch        Bücher        book books               text portable flat
der Brief       Briefe        letter letters           text paper flat
die Zeitung     Zeitungen     newspaper newspapers     text portable flat
die Geschichte  Geschichten   story stories            text tale
das Gedicht     Gedichte      poem poems               text tale
das Bild        Bilder        picture pictures         portable flat
der Ball        Bälle         ball balls               portable flat toy
die Puppe       Puppen        doll dolls               portable flat toy
der Schlüssel   Schlüssel     key keys                 portable flat
das Messer      Messer        knife knives             portable flat
der Löffel      Löffel        spoon spoons             portable flat
der Teller      Teller        plate plates             portable upright dishes
die Tasse       Tassen        cup cups                 portable upright dishes vessel
das Glas        Gläser        glass glasses            portable upright dishes vessel
die Flasche     Flaschen      bottle bottles           portable upright vessel
die Vase        Vasen         vase vases               portable upright vessel
die Lampe       Lampen        lamp lamps               portable upright machine switched
die Uhr         Uhren         clock clocks             portable upright machine
der Computer    Computer      computer computers       portable upright machine switched
die Blume       Blumen        flower flowers           bouquet many
das Geschenk    Geschenke     present presents         portable flat
der Koffer      Koffer        suitcase suitcases       portable luggage
die Tasche      Taschen       bag bags                 portable luggage
der Korb        Körbe         basket baskets           portable luggage
die Kiste       Kisten        box boxes                portable luggage
der Hut         Hüte          hat hats                 clothing flat
der Mantel      Mäntel        coat coats               clothing flat
die Jacke       Jacken        jacket jackets           clothing flat
das Hemd        Hemden        shirt shirts             clothing flat
das Kleid       Kleider       dress dresses            clothing flat
der Schuh       Schuhe        shoe shoes               clothing many
der Regenschirm Regenschirme  umbrella umbrellas       portable flat
das Fahrrad     Fahrräder     bicycle bicycles         machine vehicle
das Auto        Autos         car cars                 machine vehicle
der Bus         Busse         bus buses                vehicle coach
der Zug         Züge          train trains             vehicle coach
das Boot        Boote         boat boats               vehicle

das Haus        Häuser        house houses             place building
die Schule      Schulen       school schools           place building
das Restaurant  Restaurants   restaurant restaurants   place building
der Laden       Läden         shop shops               place building
das Büro        Büros         office offices           place inside
die Küche       Küchen        kitchen kitchens         place inside
das Zimmer      Zimmer        room rooms               place inside
der Garten      Gärten        garden gardens           place green
der Park        Parks         park parks               place green
der Wald        Wälder        forest forests           place green
die Wiese       Wiesen        meadow meadows           place green
das Feld        Felder        field fields             place green
das Dorf        Dörfer        village villages         place town
die Stadt       Städte        city cities              place town
der Markt       Märkte        market markets           place town
der Bahnhof     Bahnhöfe      station stations         place town
die Straße      Straßen       street streets           place town
die Brücke      Brücken       bridge bridges           place structure
die Mauer       Mauern        wall walls               place structure
der Zaun        Zäune         fence fences             place structure
der Fluss       Flüsse        river rivers             place water
der See         Seen          lake lakes               place water
der Strand      Strände       beach beaches            place town
der Baum        Bäume         tree trees               place plant
der Berg        Berge         mountain mountains       place hill
das Dach        Dächer        roof roofs               place structure
die Tür         Türen         door doors               opening
das Fenster     Fenster       window windows           opening
der Tisch       Tische        table tables             furniture
der Stuhl       Stühle        chair chairs             furniture
das Regal       Regale        shelf shelves            furniture
das Sofa        Sofas         sofa sofas               furniture
das Bett        Betten        bed beds                 furniture
die Bank        Bänke         bench benches            furniture
der Teppich     Teppiche      carpet carpets           furniture
"""


def _noun(row: str) -> Noun:
    article, german, plural, english, english_plural, *kinds = row.split()
    return Noun(
        german,
        _GENDER[article],
        plural.strip("-"),
        english,
        english_plural.strip("-"),
        frozenset(kinds),
    )


NOUNS = {noun.german: noun for noun in map(_noun, filter(None, _TABLE.splitlines()))}


@cache
def nouns_of(spec: str) -> tuple[Noun, ...]:
    """Find the nouns a specification means: kinds (small letter) and single nouns (capital)."""
    wanted = set(spec.split())
    found = tuple(noun for noun in NOUNS.values() if noun.german in wanted or noun.kinds & wanted)
    known = set(NOUNS).union(*(noun.kinds for noun in NOUNS.values()))
    assert wanted <= known, f"no noun is {wanted - known}"
    return found
