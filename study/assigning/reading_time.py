"""How much a rater reads: words of the fields that the assigned constructs show."""

from collections.abc import Iterable

from sqlalchemy import Connection, select

from study.constructs import ConstructSpec
from study.nouns import Passage, Query, Response, ResponsePassage, table


class Reading:
    """Words of the responses of a study. A word is what stands between white space."""

    def __init__(self, connection: Connection, constructs: Iterable[ConstructSpec]) -> None:
        shown = {field for construct in constructs for field in construct.sees}
        r, q = table(Response), table(Query)
        self._response: dict[int, int] = {}
        self._query: dict[int, int] = {}
        self._passages: dict[int, list[int]] = {}
        self._passage: dict[int, int] = {}
        for response, text in connection.execute(select(r.c.id, r.c.text)):
            self._response[response] = _words(text)
        for query, text, references in connection.execute(select(q.c.id, q.c.text, q.c.references)):
            asked = _words(text) if "question" in shown else 0
            first = references[0] if references and "reference" in shown else ""
            self._query[query] = asked + _words(first)
        if "context" in shown:
            p, t = table(ResponsePassage), table(Passage)
            for response, passage in connection.execute(select(p.c.response_id, p.c.passage_id)):
                self._passages.setdefault(response, []).append(passage)
            for passage, text in connection.execute(select(t.c.id, t.c.text)):
                self._passage[passage] = _words(text)

    def words(self, query: int, responses: Iterable[int]) -> int:
        """Return the words of responses to one query; a passage that they share counts once."""
        responses = set(responses)
        passages = {p for response in responses for p in self._passages.get(response, ())}
        return (
            self._query[query]
            + sum(self._response[response] for response in responses)
            + sum(self._passage[passage] for passage in passages)
        )


def _words(text: str) -> int:
    return len(text.split())
