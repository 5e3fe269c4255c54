"""Responses of systems: retrieval, the answers of readers, and their import into the study."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from judge.engines.engine import FileEngine, TokenCount, load_engine
from judge.engines.files.files_engine import answers_in_files
from judge.metrics.embedding import Encoder
from judge.prompts.step_prompts import StepPrompts
from judge.protocol.exchange import Answer
from judge.responding.asked_reader import ask_reader
from judge.responding.chunks import WORDS, tokens_of
from judge.responding.corpus import corpus_files, read_corpus, read_questions
from judge.responding.imported_responses import (
    check_queries,
    check_unanswered,
    import_responses,
    inside_study,
    stored_responses,
)
from judge.responding.reader_answers import stored_answers, stored_conditions
from judge.responding.reader_prompt import prompt_hash, reader_prompts
from judge.responding.respond_outcome import RespondOutcome, SystemResponses
from judge.responding.retrieved import PassageRetrieval
from judge.responding.stored_rankings import FOLDER
from judge.responding.system_prompts import (
    AnsweringSystem,
    open_prompts,
    reader_requests,
    systems_by_reader,
)
from judge.responding.systems import DISCREPANCY, OTHER_WORDS, chosen_systems
from judge.run_settings import JudgeSettings
from judge.running.unprompted_metrics import MetricModels, load_encoder
from study.errors import StudyError
from study.importing.readers.input_file import Advance, unseen
from study.lifecycle.file_system import check_file_system
from study.schema.locks import LockSpace, exclusive
from study.settings.scorer_sections import SystemSpec
from study.study import Study
from study.text import counted


class RespondStoppedError(StudyError):
    """The readers could not be asked further; what was answered is stored."""

    def __init__(self, message: str, outcome: RespondOutcome) -> None:
        super().__init__(message)
        self.outcome = outcome


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
    revise: bool = False,
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
    revise
        Make the responses current where a system has others in the study.
    dry_run
        Rank the passages and count the prompts; ask none.
    advance
        Called with the prompts done and their total.

    Raises
    ------
    StudyError
        An input can't be used, a prompt does not fit the model, a system has other responses in
        the study, or another process makes responses of it.
    RespondStoppedError
        A reader could not be asked further; what was answered is stored.
    """
    check_file_system(study)
    chosen, preset = chosen_systems(study.config.systems, systems, preset)
    instead = {"reader": settings.model, "prompt": prompt}
    update = {name: value for name, value in instead.items() if value is not None}
    chosen = {name: spec.model_copy(update=update) for name, spec in chosen.items()}
    prompts = {name: reader_prompts(spec.prompt, study.folder) for name, spec in chosen.items()}
    _check_files(settings, chosen, prompts)
    questions = read_questions(queries)
    busy = StudyError(
        "Another process makes responses of this study; wait until it has ended, or stop it."
    )
    with exclusive(study.engine, study.folder, LockSpace.RESPONSES, busy=busy):
        check_queries(study, queries, questions)
        retrieval = PassageRetrieval(
            study.folder,
            read_corpus(corpus, queries),
            questions,
            tokens_of(tokenizer),
            _encoder(chosen, settings),
            advance,
        )
        made = [
            AnsweringSystem(name, spec, prompts[name], retrieval.of(spec), questions)
            for name, spec in chosen.items()
        ]
        files = [file.name for file in corpus_files(corpus, queries)]
        for (reader, version), group in systems_by_reader(made).items():
            if not revise:
                check_unanswered(study, group, _earlier_answers(study.folder, reader, version))
        outcome = RespondOutcome(dry_run, len(questions), len(retrieval.documents), files, {})
        for each in made:
            sizes = f"{each.spec.chunk_tokens} tokens, overlap {each.spec.chunk_overlap}"
            outcome.passages[sizes] = len(each.retrieved.chunks)
        if retrieval.truncated:
            outcome.notes.append(
                "The encoder read only the beginning of "
                f"{counted(retrieval.truncated, 'text')} longer than its window."
            )
        if preset is not None:
            outcome.notes += [DISCREPANCY, *([] if prompt else [OTHER_WORDS])]
        if dry_run:
            return _previewed(study, settings, made, outcome)
        return _responded(study, settings, made, outcome, advance, revise=revise)


def _check_files(
    settings: JudgeSettings, chosen: Mapping[str, SystemSpec], prompts: Mapping[str, StepPrompts]
) -> None:
    """Refuse files of requests or answers of several readers, which have no mark of their reader.

    Files of requests are those of one prompt version as well.
    """
    if not hasattr(load_engine(settings.engine), FileEngine.finish.__name__):
        return
    # Answers in tables are found by the words of their prompts.
    by_prompt = not getattr(settings, "reads_tables", True)
    groups: dict[tuple[str | None, str], list[str]] = {}
    for name, spec in chosen.items():
        group = spec.reader, prompts[name].hash if by_prompt else ""
        groups.setdefault(group, []).append(name)
    if len(groups) == 1:
        return
    readers = "; ".join(f"{reader}: {', '.join(names)}" for (reader, _), names in groups.items())
    first = ",".join(next(iter(groups.values())))
    folder = "a --requests folder and files" if by_prompt else "files"
    raise StudyError(
        f"The engine {settings.engine} reads and writes the files of one reader and prompt, and "
        f"the systems have {len(groups)} ({readers}). Make the responses of one at a time, here "
        f"first with --systems {first}, each with {folder} of --answers of its own."
    )


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


def _previewed(
    study: Study, settings: JudgeSettings, made: Sequence[AnsweringSystem], outcome: RespondOutcome
) -> RespondOutcome:
    tokens, left = TokenCount(), settings.limit
    for (reader, version), systems in systems_by_reader(made).items():
        known = _likely_answers(study.folder, reader, version)
        asked = open_prompts(systems, known, left)
        left = None if left is None else left - len(asked)
        limit = settings.max_tokens or systems[0].prompts.max_tokens
        reader_settings = settings.model_copy(update={"model": reader})
        with answers_in_files(study, reader_settings, systems[0].prompts) as answers:
            if answers is not None:
                found = [answers(request) for request in reader_requests(asked)]
                asked = [each for each, is_found in zip(asked, found, strict=True) if not is_found]
                outcome.answered += sum(found)
        sizes = (len(each.system.prompt(each.place).encode()) for each in asked)
        outcome.prompts += len(asked)
        outcome.prompt_tokens += sum(round(tokens.estimate(size)) for size in sizes)
        outcome.answer_tokens += limit * len(asked)
        for each in systems:
            ranking = inside_study(study, each.retrieved.path)
            outcome.systems[each.name] = SystemResponses(ranking, "", each.prompts.name)
    outcome.cost = settings.cost(outcome.prompt_tokens, outcome.answer_tokens)
    return outcome


def _earlier_answers(folder: Path, reader: str, version: str) -> list[dict[str, Answer]]:
    """Return the answers of this reader to this prompt, file by file, the newest first."""
    paths = sorted(
        (folder / FOLDER).glob("answers-*.jsonl"), key=lambda file: -file.stat().st_mtime
    )
    found = []
    for path in paths:
        conditions = stored_conditions(path)
        if (conditions.get("model"), conditions.get("prompt_hash")) == (reader, version):
            found.append(stored_answers(path))
    return found


def _likely_answers(folder: Path, reader: str, version: str) -> dict[str, Answer]:
    """Return those of the newest file, which a call would most likely continue."""
    return next(iter(_earlier_answers(folder, reader, version)), {})


def _responded(
    study: Study,
    settings: JudgeSettings,
    made: Sequence[AnsweringSystem],
    outcome: RespondOutcome,
    advance: Advance,
    *,
    revise: bool,
) -> RespondOutcome:
    left = settings.limit
    spent = dict.fromkeys(("prompt", "completion", "cached"), 0)
    groups = systems_by_reader(made)
    for (reader, version), systems in groups.items():
        if left is not None and left <= 0:
            known = _likely_answers(study.folder, reader, version)
            if open_prompts(systems, known, 1):
                outcome.systems |= _not_asked(study, systems, known)
                continue
        reader_settings = settings.model_copy(
            update={"model": reader, **_cost_left(settings, outcome)}
        )
        asked = ask_reader(study, reader_settings, systems, left, advance, revise=revise)
        answers = asked.answers
        outcome.notes += [note for note in asked.notes if note not in outcome.notes]
        outcome.prompts += answers.total
        if settings.estimate is not None and asked.stopped is None:
            outcome.forecast[reader] = asked.forecast
        left = None if left is None else left - answers.answered
        outcome.answered += answers.answered
        for reason, count in answers.failures.items():
            outcome.failed[reason] = outcome.failed.get(reason, 0) + count
        outcome.notes += answers.examples
        for name in spent:
            spent[name] += answers.tokens[name] + answers.overhead[name]
        outcome.prompt_tokens, outcome.answer_tokens = spent["prompt"], spent["completion"]
        outcome.cost = settings.cost(*spent.values())
        for each in systems:
            outcome.systems[each.name] = import_responses(
                study, each, answers, asked.conditions, revise=revise
            )
        if asked.stopped is not None:
            message = str(asked.stopped) or (
                "Interrupted. All answers so far are stored; run the command again to continue."
            )
            for later, others in groups.items():
                if others[0].name not in outcome.systems:
                    known = _likely_answers(study.folder, *later)
                    outcome.systems |= _not_asked(study, others, known)
            raise RespondStoppedError(message, outcome) from None
    return outcome


def _not_asked(
    study: Study, systems: Sequence[AnsweringSystem], known: Mapping[str, Answer]
) -> dict[str, SystemResponses]:
    """Return systems whose reader this call has not come to, with their open prompts."""
    return {
        each.name: SystemResponses(
            inside_study(study, each.retrieved.path),
            "",
            each.prompts.name,
            responses=len(stored_responses(study, [each])),
            open=sum(
                prompt_hash(each.prompt(place)) not in known for place in range(len(each.questions))
            ),
        )
        for each in systems
    }


def _cost_left(settings: JudgeSettings, outcome: RespondOutcome) -> dict[str, float]:
    """Return the limit of the cost without what the readers before cost, where there is one."""
    most = getattr(settings, "max_cost", None)
    if most is None or outcome.cost is None:
        return {}
    # An engine takes a positive limit, and stops at its first prompt.
    return {"max_cost": max(most - outcome.cost, 1e-12)}
