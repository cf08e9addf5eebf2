"""The names of the world: persons, places and times; many belong to more than one of them."""


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


WOMEN = _words(
    """
    Ada Agnes Alice Alma Amelia Anja Anna Antonia Astrid Barbara Beatrice Bella Birgit Britta
    Carla Carmen Cecilia Clara Claudia Constance Daria Deborah Diana Dora Edith Elena Elisa Ella
    Elsa Emilia Emma Erika Esther Eva Fiona Flora Frances Frieda Gabriela Gerda Gisela Gloria
    Greta Gudrun Hanna Harriet Hedwig Helen Helga Hilda Ida Ingrid Irene Iris Irma Isabel Jana
    Jane Jasmin Jenny Johanna Josephine Judith Julia Karin Katharina Kira Klara Laura Lena
    Leonora Lina Linda Lisa Lotte Louise Lucia Lydia Magda Mara Margaret Maria Marion Marlene
    Martha Matilda Melanie Mina Miriam Monika Nadia Naomi Natalie Nina Nora Olga Ottilie Pamela
    Paula Petra Rahel Rebecca Regina Renata Rita Rosa Ruth Sabine Sara Selma Silvia Sonja Stella
    Susanne Svenja Tamara Tanja Thea Theresa Tilda Ulrike Ursula Valerie Vera Verena Viola Wanda
    Wilma Yvonne Zoe
    """
)
MEN = _words(
    """
    Aaron Adam Alan Albert Alfred Andreas Anton Armin Arno Arthur Bastian Benedict Benjamin
    Bernard Boris Bruno Carl Caspar Christian Clemens Conrad Cornelius Daniel David Dennis
    Dominic Edgar Edmund Edwin Emil Eric Ernest Eugene Fabian Felix Ferdinand Frank Fred Gabriel
    George Gerald Gregor Gustav Hannes Harold Heiner Henry Herbert Hermann Hugo Igor Isaac Ivan
    Jacob Jan Jasper Jeremy Joachim John Jonas Joseph Julian Julius Justus Karl Kaspar Kevin
    Kilian Klaus Konrad Kurt Lars Laurence Leo Leonard Linus Louis Lucas Ludwig Magnus Manfred
    Marius Martin Matthew Max Michael Moritz Nathan Nicholas Nils Norbert Norman Oliver Oscar
    Otto Patrick Paul Peter Philip Ralph Raphael Reinhard Robert Roland Rudi Rupert Samuel
    Sebastian Simon Stefan Stephen Sven Theo Thomas Tilman Timothy Tobias Tom Urban Uwe Valentin
    Victor Vincent Volker Walter Werner Wolfgang Xaver
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
