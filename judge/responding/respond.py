"""Responses of systems: retrieval, the answers of readers, and their import into the study."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from judge.engines.engine import FileEngine, Ready, TokenCount, load_engine
from judge.metrics.embedding import Encoder
from judge.prompts.step_prompts import StepPrompts
from judge.protocol.conditions import Run, identity, run_digest
from judge.protocol.exchange import TOO_LONG, Answer, Request
from judge.responding.chunks import WORDS, tokens_of
from judge.responding.corpus import CorpusQuery, read_corpus, read_questions
from judge.responding.reader_answers import ReaderAnswers, stored_answers, stored_conditions
from judge.responding.reader_prompt import (
    CUT,
    STEP,
    TRUNCATED,
    described,
    filled,
    prompt_hash,
    read_response,
    reader_prompts,
)
from judge.responding.respond_outcome import RespondOutcome, SystemResponses
from judge.responding.retrieved import PassageRetrieval, Retrieved
from judge.responding.stored_rankings import FOLDER
from judge.responding.systems import DISCREPANCY, OTHER_WORDS, chosen_systems
from judge.run_settings import JudgeSettings
from judge.running.model_metrics import MetricModels, load_encoder
from study.errors import StudyError
from study.importing.import_store import import_rows
from study.importing.readers.input_file import Advance, unseen
from study.importing.rows import LocatedRow, PassageRow, ResponseRow
from study.lifecycle.file_system import check_file_system
from study.schema.locks import LockSpace, exclusive
from study.settings.scorer_sections import SystemSpec
from study.study import Study

_SAMPLE = 3
UNSTORABLE = "unstorable"
"""A response with a character that databases refuse."""


class RespondStoppedError(StudyError):
    """The readers could not be asked further; what was answered is stored."""

    def __init__(self, message: str, outcome: RespondOutcome) -> None:
        super().__init__(message)
        self.outcome = outcome


@dataclass(frozen=True)
class _System:
    """A system with what it retrieved and the prompt of each query."""

    name: str
    spec: SystemSpec
    prompts: StepPrompts
    retrieved: Retrieved
    questions: Sequence[CorpusQuery]

    def passages(self, place: int) -> list[PassageRow]:
        chunks = self.retrieved.chunks
        found = (chunks[each.chunk] for each in self.retrieved.rankings[place])
        return [PassageRow(text=chunk.text, document=chunk.document) for chunk in found]

    def prompt(self, place: int) -> str:
        ranking = self.retrieved.rankings[place]
        texts = [self.retrieved.chunks[each.chunk].text for each in ranking]
        return filled(self.prompts, self.questions[place].text, texts)


class _Asked(NamedTuple):
    """A prompt, by one of the systems that have it."""

    system: _System
    place: int
    """Of the query."""


def respond_study(
    study: Study,
    settings: JudgeSettings,
    corpus: Path,
    queries: Path,
    *,
    systems: Sequence[str] = (),
    preset: str | None = None,
    prompt: str | None = None,
    tokenizer: str = WORDS,
    dry_run: bool = False,
    advance: Advance = unseen,
) -> RespondOutcome:
    """Make the responses of systems to queries, and import them.

    Parameters
    ----------
    settings
        The engine that the readers are asked with; its `model` replaces that of all systems, and
        its `encoder` makes the vectors of dense retrieval.
    corpus, queries
        See `judge.responding.corpus`.
    systems, preset
        See `judge.responding.systems.chosen_systems`.
    prompt
        Prompt of the readers in place of that of each system, see
        `judge.responding.reader_prompt.reader_prompts`.
    tokenizer
        What counts the tokens of passages, see `judge.responding.chunks.tokens_of`.
    dry_run
        Rank the passages and count the prompts; ask none.
    advance
        Called with the prompts done and their total.

    Raises
    ------
    StudyError
        An input can't be used, a prompt does not fit the model, or another process makes responses
        of this study.
    RespondStoppedError
        A reader could not be asked further; what was answered is stored.
    """
    check_file_system(study)
    chosen, preset = chosen_systems(study.config.systems, systems, preset)
    instead = {"reader": settings.model, "prompt": prompt}
    update = {name: value for name, value in instead.items() if value is not None}
    chosen = {name: spec.model_copy(update=update) for name, spec in chosen.items()}
    prompts = {name: reader_prompts(spec.prompt, study.folder) for name, spec in chosen.items()}
    questions = read_questions(queries)
    busy = StudyError(
        "Another process makes responses of this study; wait until it has ended, or stop it."
    )
    with exclusive(study.engine, study.folder, LockSpace.RESPONSES, busy=busy):
        retrieval = PassageRetrieval(
            study.folder,
            read_corpus(corpus),
            questions,
            tokens_of(tokenizer),
            _encoder(chosen, settings),
            advance,
        )
        made = [
            _System(name, spec, prompts[name], retrieval.of(spec), questions)
            for name, spec in chosen.items()
        ]
        outcome = RespondOutcome(dry_run, len(questions), len(retrieval.documents), {})
        for each in made:
            sizes = f"{each.spec.chunk_tokens} tokens, overlap {each.spec.chunk_overlap}"
            outcome.passages[sizes] = len(each.retrieved.chunks)
        if retrieval.truncated:
            outcome.notes.append(
                f"The encoder read only the beginning of {retrieval.truncated:,} texts, which are "
                "longer than its window."
            )
        if preset is not None:
            outcome.notes += [DISCREPANCY, *([] if prompt else [OTHER_WORDS])]
        if dry_run:
            return _previewed(study, settings, made, outcome)
        return _responded(study, settings, made, outcome, advance)


def _encoder(chosen: Mapping[str, SystemSpec], settings: JudgeSettings) -> Encoder | None:
    dense = [name for name, spec in chosen.items() if spec.retriever != "bm25"]
    if dense and settings.encoder is None:
        raise StudyError(
            f"The system {dense[0]} needs an encoder: name it with --encoder FOLDER, or with "
            "--encoder MODEL --encoder-url URL a model behind an endpoint; or make the responses "
            "of other systems with --systems."
        )
    if not dense and (settings.encoder or settings.encoder_url):
        raise StudyError(
            "--encoder and --encoder-url are read by systems with dense or fused retrieval only; "
            "leave them out."
        )
    if not dense:
        return None
    return load_encoder(MetricModels(settings.encoder, settings.encoder_url))


def _of_readers(made: Iterable[_System]) -> dict[tuple[str, str], list[_System]]:
    """Return the systems by reader and prompt: their prompts are asked together."""
    groups: dict[tuple[str, str], list[_System]] = {}
    for each in made:
        groups.setdefault((each.spec.reader or "", each.prompts.hash), []).append(each)
    return groups


def _open_prompts(
    systems: Sequence[_System], known: Mapping[str, Answer], limit: int | None
) -> list[_Asked]:
    """Return the prompts without an answer, each once, up to a limit."""
    found: dict[str, _Asked] = {}
    for each in systems:
        for place in range(len(each.questions)):
            digest = prompt_hash(each.prompt(place))
            if digest not in known:
                found.setdefault(digest, _Asked(each, place))
    return list(found.values())[:limit]


def _previewed(
    study: Study, settings: JudgeSettings, made: Sequence[_System], outcome: RespondOutcome
) -> RespondOutcome:
    tokens = TokenCount()
    for (reader, version), systems in _of_readers(made).items():
        known = _likely_answers(study.folder, reader, version)
        asked = _open_prompts(systems, known, settings.limit)
        limit = settings.max_tokens or systems[0].prompts.max_tokens
        sizes = (len(each.system.prompt(each.place).encode()) for each in asked)
        outcome.prompts += len(asked)
        outcome.prompt_tokens += sum(round(tokens.estimate(size)) for size in sizes)
        outcome.answer_tokens += limit * len(asked)
        for each in systems:
            ranking = _inside(study, each.retrieved.path)
            outcome.systems[each.name] = SystemResponses(ranking, "", each.prompts.name)
    outcome.cost = settings.cost(outcome.prompt_tokens, outcome.answer_tokens)
    return outcome


def _likely_answers(folder: Path, reader: str, version: str) -> dict[str, Answer]:
    """Return the newest answers of this reader to this prompt, which a call would continue."""
    for path in sorted(
        (folder / FOLDER).glob("answers-*.jsonl"), key=lambda file: -file.stat().st_mtime
    ):
        conditions = stored_conditions(path)
        if (conditions.get("model"), conditions.get("prompt_hash")) == (reader, version):
            return stored_answers(path)
    return {}


def _responded(
    study: Study,
    settings: JudgeSettings,
    made: Sequence[_System],
    outcome: RespondOutcome,
    advance: Advance,
) -> RespondOutcome:
    left = settings.limit
    overhead = dict.fromkeys(("prompt", "completion", "cached"), 0)
    for (reader, _), systems in _of_readers(made).items():
        of_reader = settings.model_copy(update={"model": reader})
        prompts = systems[0].prompts
        stopped: StudyError | KeyboardInterrupt | None = None
        with closing(load_engine(settings.engine)(of_reader, study, prompts)) as engine:
            some = range(min(_SAMPLE, len(systems[0].questions)))
            ready = engine.start([systems[0].prompt(place) for place in some])
            outcome.notes += [note for note in ready.notes if note not in outcome.notes]
            parts = identity(ready.conditions, prompts, 1)
            path = study.folder / FOLDER / f"answers-{run_digest(parts)[:12]}.jsonl"
            answers = ReaderAnswers(path, parts, advance)
            answers.add_overhead(ready.overhead)
            asked = _open_prompts(systems, answers.known, left)
            too_long = _too_long(asked, ready, settings, reader)
            answers.store_missing(list(_requests(too_long)), TOO_LONG)
            asked = [each for each in asked if each not in too_long]
            answers.total = len(asked)
            outcome.prompts += len(asked)
            run = Run(0, reader, begun=not answers.known, identity=run_digest(parts))
            try:
                outcome.notes += engine.run(run, _requests(asked), answers)
                if isinstance(engine, FileEngine):
                    outcome.notes += engine.finish("run")
            except (StudyError, KeyboardInterrupt) as error:
                stopped = error
        left = None if left is None else left - answers.answered
        outcome.answered += answers.answered
        for reason, count in answers.failures.items():
            outcome.failed[reason] = outcome.failed.get(reason, 0) + count
        outcome.notes += answers.examples
        for name in overhead:
            overhead[name] += answers.tokens[name] + answers.overhead[name]
        outcome.prompt_tokens, outcome.answer_tokens = overhead["prompt"], overhead["completion"]
        outcome.cost = settings.cost(*overhead.values())
        for each in systems:
            outcome.systems[each.name] = _imported(study, each, answers, parts)
        if stopped is not None:
            message = str(stopped) or (
                "Interrupted. All answers so far are stored; run the command again to continue."
            )
            raise RespondStoppedError(message, outcome) from None
        if left is not None and left <= 0:
            break
    return outcome


def _too_long(
    asked: Sequence[_Asked], ready: Ready, settings: JudgeSettings, reader: str
) -> list[_Asked]:
    """Return the prompts beyond the model's window.

    Raises
    ------
    StudyError
        There are some, and `--skip-too-long` does not permit it.
    """
    found = [each for each in asked if not _fits(each.system.prompt(each.place), ready)]
    if found and not settings.skip_too_long:
        first = found[0]
        raise StudyError(
            f"{len(found):,} prompts and their answers exceed the window of {reader} "
            f"({ready.window:,} tokens), such as that of the system {first.system.name} to the "
            f"query {first.system.questions[first.place].id!r}. Give the reader fewer or shorter "
            "passages, lower --max-tokens, or leave such queries without a response by "
            "--skip-too-long."
        )
    return found


def _fits(prompt: str, ready: Ready) -> bool:
    return ready.fits(len(prompt.encode()), lambda: (prompt,))


def _requests(asked: Iterable[_Asked]) -> Iterator[Request]:
    for number, each in enumerate(asked, 1):
        question = each.system.questions[each.place].id
        prompt = each.system.prompt(each.place)
        yield Request(STEP, 0, (number,), (1,), prompt, group=f"{question} {number}")


def _imported(
    study: Study, system: _System, answers: ReaderAnswers, conditions: Mapping[str, Any]
) -> SystemResponses:
    """Import the responses of a system; keep them with their scores and rules in a file."""
    made = SystemResponses(
        _inside(study, system.retrieved.path), _inside(study, answers.path), system.prompts.name
    )
    rows: list[LocatedRow] = []
    lines = []
    rules, missing = Counter[str](), Counter[str]()
    for place in range(len(system.questions)):
        answer = answers.known.get(prompt_hash(system.prompt(place)))
        if answer is None:
            made.open += 1
            continue
        read = answer.missing or read_response(answer) or TRUNCATED
        row = read if isinstance(read, str) else _row(system, place, read.text)
        if isinstance(row, str) or isinstance(read, str):
            missing[str(row)] += 1
            continue
        rules[read.rule] += 1
        made.cut += answer.finish_reason == CUT
        rows.append(LocatedRow(len(rows) + 1, row))
        scores = [each.score for each in system.retrieved.rankings[place]]
        more = {"rule": read.rule, "finish_reason": answer.finish_reason, "scores": scores}
        lines.append(json.dumps({**row.model_dump(mode="json", exclude_defaults=True), **more}))
    made.rules, made.missing = dict(rules), dict(missing)
    made.responses = len(rows)
    if rows:
        text = "".join(f"{line}\n" for line in lines)
        path = study.folder / FOLDER / f"responses-{_file_name(system.name)}.jsonl"
        path.write_text(text, encoding="utf-8")
        options = {"system": described(system.spec, system.prompts), "reader": dict(conditions)}
        summary = import_rows(
            study,
            iter(rows),
            source=path.name,
            sha256=sha256(text.encode()).hexdigest(),
            importer="responses",
            options={**options, "ranking": made.ranking},
        )
        made.added = summary.added.get("outputs", 0)
    return made


def _row(system: _System, place: int, response: str) -> ResponseRow | str:
    """Return the row of a response, or the reason why it can't be stored."""
    question = system.questions[place]
    try:
        return ResponseRow(
            query_id=question.id,
            query=question.text,
            response=response,
            system=system.name,
            passages=tuple(system.passages(place)),
            references=question.references,
        )
    except ValidationError as error:
        [detail, *_] = error.errors(include_url=False)
        if detail["loc"][:1] == ("response",):
            return UNSTORABLE
        field = ".".join(map(str, detail["loc"]))
        message = detail["msg"].removeprefix("Value error, ")
        raise StudyError(f"query {question.id!r}, {field}: {message}") from None


def _file_name(system: str) -> str:
    if system.replace("-", "").replace("_", "").isalnum() and system.isascii():
        return system
    return sha256(system.encode()).hexdigest()[:12]


def _inside(study: Study, path: Path) -> str:
    return path.relative_to(study.folder).as_posix()
