"""Searches are drawn: a point per question, a tick per relevant document."""

from regard.draw.searches import Result, Search, Searches, rank_chart, searches_part


def test_points_stand_where_their_ranks_are():
    drawn = rank_chart([(1, 10), (1, 10), (None, 3), (7, 7)])
    assert "2 questions: vectors 1, BM25 10" in drawn
    assert "vectors not found, BM25 3" in drawn and drawn.count("<circle") == 3


def test_questions_are_escaped_and_relevant_documents_ticked():
    found = {"dense": [Result("<b>wing</b>", 2), Result("heat", 0)], "bm25": []}
    part = searches_part(Searches([Search("a <script>", found)], [(1, None), (4, 2)]))
    assert "<script>" not in part and "&lt;b&gt;" in part
    assert part.count("✓") == 1 and "nothing matches" in part
    assert "higher than BM25 in 1, and lower in 1" in part
