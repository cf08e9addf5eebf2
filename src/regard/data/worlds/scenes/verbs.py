"""The verbs of the scenes: forms in both languages, and who does what to whom or where."""

from typing import Literal, NamedTuple

from regard.data.worlds.scenes.english import participle_of

Aspect = Literal["action", "event", "state"]


class Verb(NamedTuple):
    """A verb of both languages and its frame.

    An action is progressive in English where nothing makes it a habit, an event (*finden*) never
    is, and a state (*lieben*) is said of the present only. ``object`` and ``places`` specify what
    the verb takes; an object is accusative unless ``dative``.
    """

    stem: str
    """Infinitive without the separable prefix."""
    prefix: str
    third: str
    participle: str
    auxiliary: Literal["haben", "sein"]
    english: str
    particle: str
    past: str
    english_participle: str
    aspect: Aspect
    subject: str
    object: str = ""
    recipient: str = ""
    places: str = ""
    dative: bool = False

    @property
    def infinitive(self) -> str:
        return self.prefix + self.stem


# subject : infinitive third participle (* with sein) : English [past participle] : object or place
_INTRANSITIVE = """
person animal : schlafen schläft geschlafen : sleep slept slept : home seat green near
person : arbeiten arbeitet gearbeitet : work : home green work
young pet : spielen spielt gespielt : play : home green near
person : singen singt gesungen : sing sang sung : home green near
person : tanzen tanzt getanzt : dance : home green
person : lachen lacht gelacht : laugh :
person : weinen weint geweint : cry : home
person pet : warten wartet gewartet : wait : home near meet
person : kochen kocht gekocht : cook : home
person : sitzen sitzt gesessen : sit sat sat : seat near
person farm pet : stehen steht gestanden : stand stood stood : near green
person pet : liegen liegt gelegen : lie lay lain : seat green
swimmer person : schwimmen schwimmt geschwommen* : swim swam swum : water
person : ein+kaufen kauft eingekauft : shop : shopping
person animal : auf+wachen wacht aufgewacht* : wake/up woke woken :
person animal : ein+schlafen schläft eingeschlafen* : fall/asleep fell fallen : home seat
person : auf+stehen steht aufgestanden* : get/up got got :
animal : weg+laufen läuft weggelaufen* : run/away ran run :
person coach : an+kommen kommt angekommen* : arrive : meet
coach : ab+fahren fährt abgefahren* : depart :
person : zurück+kommen kommt zurückgekommen* : come/back came come :
"""

_REST = """
upright : stehen steht gestanden : stand stood stood : shelf
flat : liegen liegt gelegen : lie lay lain : surface
Auto Fahrrad Bus : stehen steht gestanden : stand stood stood : parking
coach : stehen steht gestanden : stand stood stood : platform
"""

_MOTION = """
person : gehen geht gegangen* : walk : into through across to
person animal : laufen läuft gelaufen* : run ran run : into through across to
pet wild young : springen springt gesprungen* : jump : onto over dive
bird : fliegen fliegt geflogen* : fly flew flown : above roost
adult elder : fahren fährt gefahren* : drive drove driven : ride to crossing
young Katze Bär : klettern klettert geklettert* : climb : up over
person pet : kommen kommt gekommen* : come came come : into from
"""

_TRANSITIVE = """
person : essen isst gegessen : eat ate eaten : food
farm wild : fressen frisst gefressen : eat ate eaten : fruit Kartoffel Brot
person : trinken trinkt getrunken : drink drank drunk : drink
person : lesen liest gelesen : read read read : text
person : schreiben schreibt geschrieben : write wrote written : Brief Gedicht Geschichte Buch
person : kaufen kauft gekauft : buy bought bought : food drink bouquet portable clothing furniture
person : verkaufen verkauft verkauft : sell sold sold : fruit machine clothing furniture building
person : tragen trägt getragen : wear wore worn : clothing
person : tragen trägt getragen : carry : luggage dishes Bild Lampe Stuhl
person : suchen sucht gesucht : look/for : fruit paper portable clothing pet
person : reparieren repariert repariert : repair : machine furniture Dach Zaun Mauer
person : waschen wäscht gewaschen : wash : clothing Auto Hund fruit
person : malen malt gemalt : paint : Bild animal place Blume Boot
person : füttern füttert gefüttert : feed fed fed : animal
person : bauen baut gebaut : build built built : Haus Boot Mauer Brücke Regal
person : backen backt gebacken : bake : baked
person : kochen kocht gekocht : cook : Suppe Reis Kartoffel Ei
person : schneiden schneidet geschnitten : cut cut cut : Kuchen Brot fruit Käse
person : besuchen besucht besucht : visit : person
person : begrüßen begrüßt begrüßt : greet : person
person : fotografieren fotografiert fotografiert : photograph : person animal place
hunter : jagen jagt gejagt : chase : prey
young pet : fangen fängt gefangen : catch caught caught : Ball
hunter Bär : fangen fängt gefangen : catch caught caught : Maus Fisch
person : holen holt geholt : fetch : dishes luggage drink Zeitung Stuhl
person : putzen putzt geputzt : clean : Fenster Tisch Stuhl Regal Schuh Fahrrad Küche Zimmer
person : verstecken versteckt versteckt : hide hid hidden : Schlüssel Geschenk Brief Ball Puppe
person : probieren probiert probiert : taste : food
person : bestellen bestellt bestellt : order : food drink
person : umarmen umarmt umarmt : hug : kin young
person : an+rufen ruft angerufen : call : person
person : ein+laden lädt eingeladen : invite : person
person : ab+holen holt abgeholt : pick/up : person luggage
person : auf+heben hebt aufgehoben : pick/up : fruit bouquet paper portable
person : auf+räumen räumt aufgeräumt : tidy/up : Zimmer Küche Büro
person : an+schauen schaut angeschaut : look/at : Bild animal Blume machine place furniture
person : auf+machen macht aufgemacht : open : opening Koffer Tasche Kiste Brief Geschenk Flasche
person : zu+machen macht zugemacht : close : opening Koffer Tasche Kiste
person : an+ziehen zieht angezogen : put/on put put : clothing
person : aus+ziehen zieht ausgezogen : take/off took taken : Schuh Mantel Jacke Hut
person : an+machen macht angemacht : turn/on : switched
person : aus+machen macht ausgemacht : turn/off : switched
person : aus+leihen leiht ausgeliehen : borrow : text Fahrrad Auto
person : ein+packen packt eingepackt : pack : clothing Buch Geschenk
person : mit+bringen bringt mitgebracht : bring brought brought : food toy Blume Flasche
"""

_EVENTS = """
person animal : sehen sieht gesehen : see saw seen : person animal vehicle place
person animal : hören hört gehört : hear heard heard : animal person Zug
person : finden findet gefunden : find found found : fruit bouquet paper portable clothing pet
person : vergessen vergisst vergessen : forget forgot forgotten : Schlüssel luggage clothing Brief
person : treffen trifft getroffen : meet met met : person
person : verlieren verliert verloren : lose lost lost : Schlüssel luggage Ball Hut
"""

_STATES = """
person : lieben liebt geliebt : love : kin pet Garten
person : kennen kennt gekannt : know knew known : person text
person : brauchen braucht gebraucht : need : portable machine clothing
person : haben hat gehabt : have had had : pet machine toy luggage clothing
"""

_DATIVE = """
person : helfen hilft geholfen : help : person
person : danken dankt gedankt : thank : person
pet farm young : folgen folgt gefolgt* : follow : person
person : zu+hören hört zugehört : listen/to : person
person : winken winkt gewinkt : wave/to : person
"""

_GIVING = """
person : geben gibt gegeben : give gave given : fruit bouquet paper portable drink
person : zeigen zeigt gezeigt : show showed shown : portable clothing machine
person : bringen bringt gebracht : bring brought brought : dishes food drink luggage
person : schicken schickt geschickt : send sent sent : text Geschenk Bild Blume
person : leihen leiht geliehen : lend lent lent : machine text luggage
person : erzählen erzählt erzählt : tell told told : tale
"""

_PUTTING = """
person : legen legt gelegt : put put put : flat : top soft inside
person : stellen stellt gestellt : put put put : upright : top
"""

_SAYING = """
person : sagen sagt gesagt : say said said :
person : glauben glaubt geglaubt : believe :
person : wissen weiß gewusst : know knew known :
person : hoffen hofft gehofft : hope :
person : sehen sieht gesehen : see saw seen :
person : hören hört gehört : hear heard heard :
"""


def _verb(row: str, *, aspect: Aspect, slot: str = "object", recipient: str = "") -> Verb:
    subject, german, english, taken, *rest = (part.strip() for part in row.split(":"))
    infinitive, third, participle = german.split()
    prefix, _, stem = infinitive.rpartition("+")
    word, *irregular = english.split()
    base, _, particle = word.partition("/")
    past, english_participle = irregular or (participle_of(base), participle_of(base))
    return Verb(
        stem,
        prefix,
        third,
        participle.rstrip("*"),
        "sein" if participle.endswith("*") else "haben",
        base,
        particle,
        past,
        english_participle,
        aspect,
        subject,
        object="" if slot == "places" else taken,
        recipient=recipient,
        places=rest[0] if rest else taken if slot == "places" else "",
        dative=slot == "dative",
    )


def _verbs(
    table: str, aspect: Aspect = "action", *, slot: str = "object", recipient: str = ""
) -> tuple[Verb, ...]:
    rows = filter(None, table.splitlines())
    return tuple(_verb(row, aspect=aspect, slot=slot, recipient=recipient) for row in rows)


INTRANSITIVE = _verbs(_INTRANSITIVE, slot="places")
REST = _verbs(_REST, slot="places")
MOTION = _verbs(_MOTION, slot="places")
TRANSITIVE = _verbs(_TRANSITIVE)
EVENTS = _verbs(_EVENTS, "event")
STATES = _verbs(_STATES, "state")
DATIVE = _verbs(_DATIVE, slot="dative")
GIVING = _verbs(_GIVING, recipient="person")
PUTTING = _verbs(_PUTTING)
SAYING = _verbs(_SAYING, "event")
VERBS = (
    *(*INTRANSITIVE, *REST, *MOTION, *TRANSITIVE, *EVENTS),
    *(*STATES, *DATIVE, *GIVING, *PUTTING, *SAYING),
)


class Modal(NamedTuple):
    """A modal or future auxiliary: it takes second place and sends the infinitive to the end."""

    singular: str
    plural: str
    english: str
    """The word after the subject, or the whole phrase; ``wants`` changes with the person."""
    after: str = ""
    """What stands between that word and the infinitive."""


CAN = Modal("kann", "können", "can")
MUST = Modal("muss", "müssen", "must")
SHOULD = Modal("soll", "sollen", "should")
MAY = Modal("darf", "dürfen", "may")
WANT = Modal("will", "wollen", "want", "to")
WOULD_LIKE = Modal("möchte", "möchten", "would", "like to")
FUTURE = Modal("wird", "werden", "will")
MODALS = (CAN, MUST, SHOULD, MAY, WANT, WOULD_LIKE)
