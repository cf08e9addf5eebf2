"""What every picture of attention says of itself."""

WHAT_IT_SHOWS = {
    "cross": (
        "Each row is a word the model wrote, each column a word it was given. The stronger a cell, "
        "the more this head drew on that word while writing the row."
    ),
    "own": (
        "Each row is a word of the text, each column a word it could see. The stronger a cell, the "
        "more this head drew on the column's word for the state of the row's."
    ),
}
NOT_A_REASON = (
    "It shows where one head mixed information from, not why the model answered as it did. "
    "Other heads and layers, and the path around attention, carry information too; by the time it "
    "is looked at, a word's state already holds some of its neighbours; and other weights can lead "
    "to the same answer. Before concluding anything from a map, take a word away and see "
    "whether the answer changes."
)
