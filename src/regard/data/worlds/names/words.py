"""The names of the world: persons, places and times; many belong to more than one of them."""


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


WOMEN = _words(
    """
    Ada Agnes Alice Amelia Anna Barbara Beatrice Bella Carla Clara Daria Diana Edith Elena Elsa Emma
    Frieda Gloria Greta Hanna Helen Ida Irene Isabel Jana Judith Julia Karin Kira Laura Lena Lydia
    Mara Maria Martha Mina Nadia Nina Nora Olga Paula Petra Renata Rita Sara Selma Sonja Tanja Tilda
    Ursula Vera Wanda Zoe
    """
)
MEN = _words(
    """
    Adam Alan Albert Anton Arno Boris Bruno Carl Conrad David Dennis Eric Ernest Felix Frank Fred
    George Gustav Harold Henry Hugo Ivan Jacob Jan John Joseph Karl Konrad Lars Leo Louis Lucas Max
    Moritz Nils Norman Oscar Otto Paul Peter Philip Ralph Robert Rudi Simon Stefan Theo Thomas Tom
    Uwe Victor Walter Xaver
    """
)
WOMEN_AND_PLACES = (
    "Adelaide",
    "Alexandria",
    "Charlotte",
    "Chelsea",
    "Florence",
    "Sofia",
    "Victoria",
)
MEN_AND_PLACES = ("Austin", "Dallas", "Houston", "Jordan", "Lincoln", "Orlando", "Sydney")
WOMEN_AND_TIMES = ("April", "May", "June")
MEN_AND_TIMES = ("August",)
WOMEN_AND_WORDS = ("Rose", "Hope")
MEN_AND_WORDS = ("Will", "Mark")

PLACES = _words(
    """
    Berlin Bremen Cairo Delhi Dublin Geneva Hamburg Havana Kyoto Lagos Lima Lisbon London Madrid
    Manila Milan Munich Naples Oslo Prague Quito Rome Seoul Turin Vienna Warsaw Zagreb
    """
)
STEMS = _words(
    """
    Alder Ash Beck Birch Black Brad Broad Cold Crow Dun East Elm Fern Fox Glen Green Hart Haver
    Hazel Kings Lang Lin Long Marsh Mil Moor Nether New North Oak Red Rock Sand Shel Stan Stone
    Thorn Up West Whit Win Wood
    """
)
ENDINGS = _words(
    """
    bridge brook burn bury by dale field ford gate ham hurst land ley mere more stead ton ville well
    wick worth
    """
)
"""Stem and ending make a family's name or a place's, and most can be either."""
BEFORE_PLACES = ("Port", "New", "Saint", "Fort", "Lake", "Mount")
TITLES = {"he": ("Mr", "Dr"), "she": ("Mrs", "Dr")}

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
YEARS = tuple(str(year) for year in range(1900, 2030))
