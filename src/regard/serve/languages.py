"""Languages: their names, and which of a few a text is in.

    p(language | text) ∝ Π p(character trigram | language)^(1/3)        (Dunning 1994, naive Bayes)

Trigrams overlap, hence the third root. They are counted in the frequent words below and in the
examples that come with the served runs; only the languages of these runs are compared.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

FREQUENT: Mapping[str, tuple[str, str]] = {
    "bg": ("Bulgarian", "и на да се в за не от е с по че са до един една може като но"),
    "ca": ("Catalan", "el la els les de que i a en un una és no per amb del es al com més però"),
    "cs": ("Czech", "a je se na v že to s z do o jsem si jako ale jsou pro za by který byl není"),
    "da": ("Danish", "og i er det en at på til af den med for ikke der et som de har jeg var fra"),
    "de": (
        "German",
        "der die und das ist ein eine in den zu mit auf nicht von sich dem des im auch für es ich "
        "sie einen einer einem wird sind haben war über nach bei aus wie zwei steht",
    ),
    "el": ("Greek", "και το να η ο του της με για την που είναι στο από δεν ένα μια θα τα οι"),
    "en": (
        "English",
        "the of and to a in is that it was for on are with as his they at be this have from or an "
        "by not but what all were we when your can there two standing man woman",
    ),
    "es": ("Spanish", "de la que el en y a los se del las un por con no una su para es al lo como"),
    "et": ("Estonian", "ja on ei et ta see oma kui ka mis aga oli ning üks välja siis või nagu"),
    "fi": ("Finnish", "ja on ei se että hän oli ovat kun niin mutta joka tämä myös mitä kuin olla"),
    "fr": (
        "French",
        "de la le et les des en un une du que est pour qui dans a par plus pas au sur ne se ce il "
        "sont avec deux homme femme",
    ),
    "hr": ("Croatian", "i je u se na da su za od s koji ne a što kao o bi iz nije to ali sam"),
    "hu": ("Hungarian", "a az és hogy nem is egy van ez meg csak de volt mint el már még ki ha"),
    "it": ("Italian", "di e che la il un a per in una è sono non con del da le si nel dei al lo"),
    "lt": ("Lithuanian", "ir yra kad į su tai iš kaip bet ne jis buvo ant apie tik už per jo"),
    "lv": ("Latvian", "un ir ka no ar uz par kas es tas viņš bija nav tā bet lai kā vai pie"),
    "nl": (
        "Dutch",
        "de het een van en in is dat op te zijn met voor niet die aan er om ook als bij",
    ),
    "no": ("Norwegian", "og i er det en å på til av som for med ikke et har jeg de var fra om seg"),
    "pl": ("Polish", "i w nie na się z to że do jest jak o co ale za od po tak są był przez jego"),
    "pt": ("Portuguese", "de a o que e do da em um para é com não uma os no se na por mais as dos"),
    "ro": ("Romanian", "și de la în a cu este pe nu un o că din se care mai sunt au ca pentru fi"),
    "ru": ("Russian", "и в не на я что он с как это по но они мы из у за то она так его от для"),
    "sk": ("Slovak", "a je sa na v že to s z do o som si ako ale sú pre za by ktorý bol nie je"),
    "sl": ("Slovenian", "in je v se na da so za ne ki z s pa tudi kot po bi ali bil od še sem"),
    "sv": ("Swedish", "och i att det som en på är av för med den till inte har de ett om jag var"),
    "tr": ("Turkish", "ve bir bu da de için ile ne o çok gibi daha var ama değil olarak en ben"),
    "uk": ("Ukrainian", "і в не на що я з у до це та як за від але він по так його ми вона для"),
}
FURTHER = {"ar": "Arabic", "hi": "Hindi", "ja": "Japanese", "ko": "Korean", "zh": "Chinese"}
READ = 2000  # characters of a text that are enough
SMOOTHING = 0.1


def find_name(code: str) -> str:
    """Return the English name of a language; the code itself if it is not known here."""
    return FREQUENT[code][0] if code in FREQUENT else FURTHER.get(code, code)


class Detector:
    """Tells a few languages apart.

    Args:
        examples: Texts of each language; the frequent words are added.

    """

    def __init__(self, examples: Mapping[str, Sequence[str]]) -> None:
        self.counts = {
            code: Counter(_trigrams([FREQUENT.get(code, ("", ""))[1], *texts]))
            for code, texts in sorted(examples.items())
        }
        self.totals = {code: counts.total() for code, counts in self.counts.items()}
        self.different = 1 + len(set[str]().union(*self.counts.values()))

    def detect(self, text: str) -> list[tuple[str, float]]:
        """Return each language with its probability, the likeliest first."""
        scores = {code: self._score(code, _trigrams([text[:READ]])) for code in self.counts}
        best = max(scores.values(), default=0.0)
        weights = {code: math.exp(score - best) for code, score in scores.items()}
        total = sum(weights.values())
        found = [(code, weight / total) for code, weight in weights.items()]
        return sorted(found, key=lambda one: -one[1])

    def _score(self, code: str, trigrams: Iterable[str]) -> float:
        counts, total = self.counts[code], self.totals[code] + SMOOTHING * self.different
        return sum(math.log((counts[one] + SMOOTHING) / total) for one in trigrams) / 3


def _trigrams(texts: Iterable[str]) -> list[str]:
    """Return the trigrams of letters, a space at each end of a word."""
    letters = "".join(c if c.isalpha() else " " for text in texts for c in f" {text} ".lower())
    padded = f" {' '.join(letters.split())} "
    return [padded[n : n + 3] for n in range(len(padded) - 2)]
