"""How much a rater reads: words of the fields that the assigned constructs show."""

from collections.abc import Iterable, Mapping

from sqlalchemy import Connection, select

from study.facts.current_responses import is_answer
from study.schema.tables import passages, queries, response_passages, responses
from study.settings.constructs import ConstructSpec


class WordCounts:
    """Words of the texts of a study. A word is a sequence without white space."""

    def __init__(self, connection: Connection, constructs: Iterable[ConstructSpec]) -> None:
        self._sees = {construct.key: frozenset(construct.sees) for construct in constructs}
        self._shown: dict[frozenset[str], frozenset[str]] = {}
        self._response = {
            key: _words(text)
            for key, text in connection.execute(select(responses.c.id, responses.c.text))
        }
        self._question: dict[int, int] = {}
        self._reference: dict[int, int] = {}
        for query, text, references in connection.execute(
            select(queries.c.id, queries.c.text, queries.c.references)
        ):
            self._question[query] = _words(text)
            # Further references have the same content and are collapsed on the page.
            self._reference[query] = _words(references[0]) if references else 0
        self._passages: dict[int, list[int]] = {}
        for response, passage in connection.execute(
            select(response_passages.c.response_id, response_passages.c.passage_id)
        ):
            self._passages.setdefault(response, []).append(passage)
        self._passage = {
            key: _words(text)
            for key, text in connection.execute(select(passages.c.id, passages.c.text))
        }

    def enter(self, response: int, text: str, *, like: int) -> None:
        """Add a new response that has the passages of another."""
        self._response[response] = _words(text)
        if like in self._passages:
            self._passages[response] = self._passages[like]

    def has(self, response: int, query: int) -> tuple[bool, bool]:
        """Return whether the response has passages, and its query a reference."""
        return bool(self._passages.get(response)), self._reference[query] > 0

    def length(self, response: int) -> int:
        """Return the words of a response's own text."""
        return self._response[response]

    def words(self, query: int, responses: Mapping[int, frozenset[str]]) -> int:
        """Return the words that a rater reads of responses to one query.

        `responses` are given with the constructs they are rated on. Question and reference count
        once, and so does a passage that responses share.
        """
        fields_by_response = {response: self._fields(keys) for response, keys in responses.items()}
        somewhere = frozenset().union(*fields_by_response.values())
        passages = {
            passage
            for response, fields in fields_by_response.items()
            if "context" in fields
            for passage in self._passages.get(response, ())
        }
        return (
            (self._question[query] if "question" in somewhere else 0)
            + (self._reference[query] if "reference" in somewhere else 0)
            + sum(
                self._response[r]
                for r, fields in fields_by_response.items()
                if "response" in fields
            )
            + sum(self._passage[passage] for passage in passages)
        )

    def total(self, queries: Mapping[int, Mapping[int, frozenset[str]]]) -> int:
        """Return the words of all queries of a rater."""
        return sum(self.words(query, responses) for query, responses in queries.items())

    def _fields(self, keys: frozenset[str]) -> frozenset[str]:
        if keys not in self._shown:
            fields = (self._sees.get(key, frozenset()) for key in keys)
            self._shown[keys] = frozenset().union(*fields)
        return self._shown[keys]


def words_a_response(connection: Connection, constructs: Iterable[ConstructSpec]) -> float:
    """Return the mean words to read per response, including its share of its query's texts.

    All constructs count as assigned; 0 without responses.
    """
    specs = tuple(constructs)
    keys = frozenset(construct.key for construct in specs)
    queries: dict[int, dict[int, frozenset[str]]] = {}
    rows = connection.execute(
        select(responses.c.id, responses.c.query_id).where(is_answer())
    ).fetchall()
    for response, query in rows:
        queries.setdefault(query, {})[response] = keys
    return WordCounts(connection, specs).total(queries) / len(rows) if rows else 0.0


def _words(text: str) -> int:
    return len(text.split())
