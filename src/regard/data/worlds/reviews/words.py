"""What reviews are made of: things that are judged, words that judge, and frames around them."""

ASPECTS = ("soup", "bread", "coffee", "waiter", "view", "music", "garden", "room")
OPINIONS = {
    1: ("awful", "dreadful", "horrible", "terrible", "disgusting", "hopeless", "shameful"),
    2: ("weak", "poor", "bland", "dull", "bad", "disappointing", "shabby"),
    3: ("average", "passable", "ordinary", "acceptable", "middling", "fair", "unremarkable"),
    4: ("good", "nice", "pleasant", "decent", "fine", "solid", "lovely"),
    5: ("superb", "wonderful", "excellent", "brilliant", "perfect", "splendid", "magnificent"),
}
"""By rating."""
NEGATED = {2: 4, 4: 2}
"""What "not" makes of a rating; the outermost and the middle are never negated."""
RATING_OF = {word: rating for rating, words in OPINIONS.items() for word in words}

PEOPLE = (
    "My brother",
    "My neighbour",
    "A colleague",
    "Our guide",
    "My cousin",
    "The guest beside us",
    "An old friend",
    "The taxi driver",
    "My sister",
    "A stranger",
)
HEARSAY = (
    "{person} called the place {opinion}.",
    "{person} said that it was {opinion}.",
    "{person} remembers it as {opinion}.",
    "{person} had heard of a {opinion} evening there.",
)
"""Opinions of others: they judge, and must not count."""
SETTING = (
    "We came on a rainy {day}.",
    "It was late on a {day} and still warm.",
    "The place lies behind the station.",
    "We were four and had booked a table.",
    "It took us an hour to get there on {day}.",
    "{person} had told us about the place.",
    "The street was full of people that {day}.",
    "We stayed until they closed.",
    "Nobody asked us where we came from.",
    "The bill came at eight.",
    "Someone at the door spoke about the weather.",
    "We had seen a picture of the house before.",
)
"""Nobody judges here."""
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
VERDICT = (
    "I found the {aspect} {opinion}.",
    "To me the {aspect} was {opinion}.",
    "In my eyes the {aspect} was {opinion}.",
    "For my taste the {aspect} was {opinion}.",
)
"""The writer's own opinion of one thing: the rating."""
NAMING = (
    "Judge this place by the {aspect} alone.",
    "Only the {aspect} counts for me.",
    "I came for the {aspect} and for nothing else.",
    "Nothing matters to me but the {aspect}.",
)
"""Which of many things the rating is about."""
LISTS = ("I found {pairs}.", "To me {pairs}.", "In my eyes {pairs}.")
PAIRS = {"I found {pairs}.": "the {aspect} {opinion}"}
"""How a thing and its opinion are said in a list; where nothing stands here, with "was"."""
