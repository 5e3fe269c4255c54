"""The data of a task of any project: the response that is rated, or those that are compared."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from annotate_ui.label_studio import NAME
from annotate_ui.label_studio.annotations import as_integer
from study.errors import Fault, nearest
from study.importing.formats.response_columns import FIELDS as OF_RESPONSES
from study.importing.formats.responses import response_row
from study.importing.importers import FormatOptions
from study.importing.readers.cells import blank
from study.importing.readers.column_layout import Fields
from study.importing.readers.input_file import Record
from study.importing.readers.records import Reader, RecordCells
from study.importing.readers.source import RecordSource
from study.importing.rows import LocatedRow
from study.importing.tool_exports import answer_text
from study.schema import digest
from study.text import quoted_names

FIELDS: Fields = {
    **{name: names for name, names in OF_RESPONSES.items() if name != "attributes"},
    # Label Studio's templates for rankings and comparisons call a query prompt.
    "query": (*OF_RESPONSES["query"], "prompt"),
    "response_id": ("response_id", "item_id"),
    "text_a": ("text_a", "answer_a", "answer1"),
    "text_b": ("text_b", "answer_b", "answer2"),
    **{name: (name,) for name in ("response_a", "response_b", "system_a", "system_b", "items")},
}
DIALOGUES = ("messages", "dialogue", "dialog", "conversation", "chat")
"""Fields with a dialogue, as Label Studio's controls Chat and Paragraphs show it."""
_SPEAKERS = ("role", "author", "speaker")
_ASSISTANTS = frozenset({"assistant", "bot", "chatbot", "ai", "model"})
AFTER_RESPONSE = "messages of a dialogue after the last one of the assistant, which is the response"
NO_ANSWER = "tasks whose dialogue has no message of an assistant"
NO_QUESTION = "tasks whose dialogue has no question before the assistant's message"
_ITEM_TEXTS = ("response", "answer", "text", "body")
_LACKING = {
    "preference": (
        "does not name the responses that were compared",
        "Name query_id, and the ids of the response on the left, response_a, and on the right, "
        "response_b; or their texts, text_a and text_b, and that of the query.",
    ),
    "ranking": (
        "does not have the list that was ranked",
        "Name the list items, whose objects have an id and a text (or response_id), and the query, "
        "such as with --column replies=items.",
    ),
    "number": (
        "has neither the id of a response nor its texts",
        "Name the texts question (or query) and response (or answer), or a dialogue (messages with "
        "role and content) in which an assistant answers, or identify a response of "
        "the study by response_id (or item_id), or by query_id and system. --column NAME=FIELD "
        "gives a field of the task another name.",
    ),
}
"""Kind of control to what a task lacks for its results, and the remedy."""
_Compared = tuple[str | None, str, Any, Any, Any]
"""Id of a response, name in results, number in the task, text and system."""


class ResponseName(NamedTuple):
    """A response as a task names it: by its id, or by query and system."""

    response_id: str | None
    query_id: str | None
    system: str | None = None


@dataclass
class TaskContent:
    """What a task contains."""

    record: Record
    """The task as it is exported."""
    cells: RecordCells
    name: str
    """The id of its response, and the beginning of compared ones, where the data have none."""
    rows: list[LocatedRow | Fault] = field(default_factory=list)
    """Responses whose texts it has, to be imported."""
    rated: ResponseName | None = None
    compared: dict[str, dict[str, ResponseName]] = field(default_factory=dict)
    """Kind of control (preference, ranking) to the compared responses by their name in results."""

    @property
    def number(self) -> int:
        """The task's number in Label Studio."""
        return int(self.record.cells["id"])

    def unplaced(self, kinds: Iterable[str]) -> Fault | None:
        """Return a fault if the task does not name the responses that its results are of.

        `kinds` are those of the controls that have results.
        """
        named = {*self.compared, *(() if self.rated is None else ("number",))}
        for kind in (kind for kind in kinds if kind not in named):
            problem, remedy = _LACKING[kind]
            listed = quoted_names(self.record.cells["data"]) or "none"
            problem = f"task {self.record.cells['id']} {problem}. Its fields: {listed}."
            return Fault(problem, remedy, self.record.number)
        return None


class TaskReader:
    """Reads the data of tasks; the caller may give their fields, and tasks, other `names`."""

    def __init__(
        self, source: RecordSource, options: FormatOptions, names: Mapping[int, str | None] = {}
    ) -> None:
        self._reader = Reader(source, FIELDS, families=True)
        self._options, self._names = options, names
        self._left_out = source.report.left_out
        self._renamed: set[str] = set()
        self.fields: dict[str, None] = {}
        """Names of the data of the tasks that were read."""

    def contents(self, records: Iterable[Record | Fault]) -> Iterator[TaskContent | Fault]:
        """Yield the content of each task, or why it has none, but dialogues without a response.

        At the end there are faults about all of them.
        """
        unusable: tuple[str, Record] | None = None
        others = False
        for record in records:
            content = record if isinstance(record, Fault) else self._read(record)
            if isinstance(content, str):
                assert isinstance(record, Record)  # noqa: S101  (a fault is no text)
                self._left_out[content] += 1
                unusable = unusable or (content, record)
            else:
                others = True
                yield content
        for name, meaning in self._options.columns.items():
            if name not in self._renamed:
                listed = quoted_names(self.fields) or "none"
                hint = nearest(name, self.fields)
                yield Fault(
                    f"no task has the field {name!r}. Fields: {listed}. {hint}".rstrip(),
                    f"Correct or leave out --column {name}={meaning}.",
                )
        if unusable is not None and not others:
            why, first = unusable
            names = f"{_SPEAKERS[0]} (or {' or '.join(_SPEAKERS[1:])})"
            remedy = (
                f"Messages whose {names} is one of {', '.join(sorted(_ASSISTANTS))} are an "
                "assistant's: give it one of these names."
                if why == NO_ANSWER
                else "Add the question as a message before it."
            )
            problem = f"no task can be used: {why}, such as task {first.cells['id']}."
            yield Fault(problem, remedy, first.number)

    def _read(self, record: Record) -> TaskContent | Fault | str:
        """Return the content of a task, or why its dialogue has no response."""
        task = record.cells
        data = task.get("data")
        if not isinstance(data, dict) or as_integer(task.get("id")) is None:
            lacking = "number" if isinstance(data, dict) else "data"
            return Fault(f"the task has no {lacking}.", "Export the project again.", record.number)
        if NAME in data:
            remedy = "Read its ratings with ccrs label-studio pull."
            return Fault("the task was pushed by ccrs label-studio push.", remedy, record.number)
        data, unusable = self._without_dialogue(self._rename(task["data"]))
        self.fields.update(dict.fromkeys(task["data"]))
        name = self._names.get(task["id"]) or f"task-{task['id']}"
        identified, has_id = _identified(data, name)
        cells = self._reader.cells(Record(record.number, identified))
        content = TaskContent(record, cells, name)
        column = cells.column("response")
        # A response may be empty.
        has_texts = cells.has("query") and column is not None and data[column] is not None
        if has_texts:
            content.rows += response_row(cells, self._options)
        if has_texts or has_id:
            content.rated = ResponseName(
                cells.key("response_id"), cells.key("query_id"), cells.key("system")
            )
        pair = [
            (f"response_{side}", side, cells.text(f"text_{side}"), cells.key(f"system_{side}"))
            for side in ("a", "b")
        ]
        self._compare(content, "preference", [(cells.key(one[0]), *one) for one in pair])
        self._compare(content, "ranking", list(self._items(cells)))
        return content if content.rated or content.compared else unusable or content

    def _rename(self, data: Mapping[str, Any]) -> dict[str, Any]:
        columns = self._options.columns
        self._renamed.update(name for name in columns if name in data)
        meant = {columns[name] for name in columns if name in data}
        # A field that the caller names comes before one that has the name already.
        kept = {name: cell for name, cell in data.items() if name in columns or name not in meant}
        return {columns.get(name, name): cell for name, cell in kept.items()}

    def _without_dialogue(self, data: dict[str, Any]) -> tuple[dict[str, Any], str | None]:
        """Return the data with a query and a response in place of a dialogue, or why it has none.

        The assistant's last message is the response, and the messages before it are the query.
        """
        fields = {name.casefold() for name in data}
        name = next((n for n in data if n.casefold() in DIALOGUES), None)
        if name is None or fields.intersection(FIELDS["query"], FIELDS["response"]):
            return data, None
        messages = _messages(data[name])
        places = [n for n, (speaker, _) in enumerate(messages) if speaker in _ASSISTANTS]
        if not messages and data[name] != []:
            return data, None
        others = {field: cell for field, cell in data.items() if field != name}
        if not places or places[-1] == 0:
            return others, NO_QUESTION if places else NO_ANSWER
        last = places[-1]
        if last + 1 < len(messages):
            self._left_out[AFTER_RESPONSE] += len(messages) - last - 1
        before = messages[:last]
        query = before[0][1] if last == 1 else "\n\n".join(f"{who}: {text}" for who, text in before)
        return {**others, "query": query, "response": messages[last][1]}, None

    def _items(self, cells: RecordCells) -> Iterator[_Compared]:
        """Yield the items of a list that may be ranked; all have an id."""
        listed = cells.raw("items")
        if not isinstance(listed, list) and not str(listed or "").lstrip().startswith("[{"):
            return
        items = [self._rename(item) for item in cells.listed("items") if isinstance(item, dict)]
        if any(blank(item.get("id")) for item in items):
            return
        for item in items:
            text = next((item[name] for name in _ITEM_TEXTS if item.get(name) is not None), None)
            own = cells.key_in("items", item.get("response_id", None if text else item["id"]))
            yield own, str(item["id"]), item["id"], text, item.get("system")

    def _compare(self, content: TaskContent, kind: str, compared: Sequence[_Compared]) -> None:
        """Add responses that are compared, if each has an id or its texts."""
        cells = content.cells
        query, has_query = cells.key("query_id"), cells.has("query")
        if query is None and (text := cells.text("query")):
            # A query without an id gets the one that its text gives it.
            query = f"q-{digest(text.encode(errors='surrogatepass')).hex()[:12]}"
        if query is None or any(
            o is None and (t is None or not has_query) for o, *_, t, _ in compared
        ):
            return
        for own, name, number, text, system in compared:
            key = own or f"{content.name}/{number}"
            content.compared.setdefault(kind, {})[name] = ResponseName(key, query)
            if text is not None and has_query:
                named = {"response": text, "response_id": key, "system": system, "attributes": {}}
                content.rows += response_row(cells, self._options, **named)


def _messages(dialogue: Any) -> list[tuple[str, str]]:
    """Return speaker and text of each message; none if one of them has no speaker or no text."""
    messages: list[tuple[str, str]] = []
    for message in dialogue if isinstance(dialogue, list) else ():
        if not isinstance(message, dict):
            return []
        speaker = next((message[name] for name in _SPEAKERS if message.get(name)), None)
        text = answer_text(message.get("content", message.get("text")))
        if not isinstance(speaker, str) or text is None:
            return []
        messages.append((speaker.strip().casefold(), text))
    return messages


def names_a_pair(task: Mapping[str, Any], options: FormatOptions) -> bool:
    """Whether the data of a task name two responses to compare, and none to rate."""
    data = task.get("data")
    names = data if isinstance(data, dict) else ()
    fields = {options.columns.get(name, name).casefold() for name in names}

    def has(*meant: str) -> bool:
        return all(fields.intersection(FIELDS[field]) for field in meant)

    return (has("response_a", "response_b") or has("text_a", "text_b")) and not has("response")


def _identified(data: Mapping[str, Any], name: str) -> tuple[dict[str, Any], bool]:
    """Return a task's data with an id of the response, and whether they identify it themselves."""
    # A blank field would hide another one that is not blank.
    names = FIELDS["response_id"]
    cleaned = {n: cell for n, cell in data.items() if n.casefold() not in names or not blank(cell)}
    given = {name.casefold() for name, cell in cleaned.items() if not blank(cell)}
    own, query, system = (given & {*FIELDS[n]} for n in ("response_id", "query_id", "system"))
    has_id = bool(own or (query and system))
    return cleaned if has_id else {**cleaned, "response_id": name}, has_id
