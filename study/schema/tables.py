"""The tables of a study, for statements without the ORM."""

from sqlalchemy import ColumnElement, Subquery, Table, select

from study.schema.base import table
from study.schema.content import Output, Passage, Query, Response, ResponseAlias, ResponsePassage
from study.schema.external import ExternalProject, ExternalRater, ExternalTask, RejectedValue
from study.schema.human_ratings import (
    Assignment,
    ClosingAnswer,
    Invitation,
    OpenedPassage,
    Rater,
    RaterAnswer,
    Reveal,
)
from study.schema.imports import ImportedFile, ScorerAnswer
from study.schema.judge import (
    JudgeAnswer,
    JudgeCall,
    JudgeCallEnd,
    JudgeRun,
    Reading,
    StepAnswer,
)
from study.schema.participation import (
    Consent,
    Departure,
    EndedSession,
    Enrolment,
    EnrolmentLink,
    Erasure,
    InterimAnalysis,
    OwnerPassword,
    Pause,
    StudyIdentity,
)
from study.schema.study_design import CheckPair, Comparison, Construct, ExpectedValue

assignments = table(Assignment)
check_pairs = table(CheckPair)
closing_answers = table(ClosingAnswer)
comparisons = table(Comparison)
consents = table(Consent)
constructs = table(Construct)
departures = table(Departure)
enrolments = table(Enrolment)
ended_sessions = table(EndedSession)
enrolment_links = table(EnrolmentLink)
erasures = table(Erasure)
expected_values = table(ExpectedValue)
external_projects = table(ExternalProject)
external_raters = table(ExternalRater)
external_tasks = table(ExternalTask)
imported_files = table(ImportedFile)
interim_analyses = table(InterimAnalysis)
invitations = table(Invitation)
judge_answers = table(JudgeAnswer)
judge_calls = table(JudgeCall)
judge_call_ends = table(JudgeCallEnd)
judge_runs = table(JudgeRun)
opened_passages = table(OpenedPassage)
outputs = table(Output)
owner_passwords = table(OwnerPassword)
passages = table(Passage)
pauses = table(Pause)
queries = table(Query)
raters = table(Rater)
rater_answers = table(RaterAnswer)
readings = table(Reading)
rejected_values = table(RejectedValue)
responses = table(Response)
response_aliases = table(ResponseAlias)
response_passages = table(ResponsePassage)
reveals = table(Reveal)
step_answers = table(StepAnswer)
scorer_answers = table(ScorerAnswer)
study_identities = table(StudyIdentity)


def _view(
    name: str, answers: Table, where: ColumnElement[bool], without: str = "", **renamed: str
) -> Subquery:
    """Return some answers under the names of their columns, without those that they never have."""
    others = set(without.split())
    columns = [
        column.label(renamed.get(column.name, column.name))
        for column in answers.c
        if column.name not in others
    ]
    return select(*columns).where(where).subquery(name)


# Answers by what they are about, for statements that read. They are inserted into the tables
# `judge_answers`, `rater_answers` and `scorer_answers`.
judgments = _view("judgment", judge_answers, judge_answers.c.item == "")
probe_answers = _view("probe_answer", judge_answers, judge_answers.c.probe.is_not(None))
pair_answers = _view("pair_answer", judge_answers, judge_answers.c.second_response_id.is_not(None))
# Those of a run itself, without its probes.
run_answers = _view("run_answer", judge_answers, judge_answers.c.probe.is_(None))
run_step_answers = _view("step_answer", step_answers, step_answers.c.probe == "")

ratings = _view(
    "rating", rater_answers, rater_answers.c.kind == "value", "kind ranges comparison_id"
)
sentence_marks = _view(
    "sentence_marks",
    rater_answers,
    rater_answers.c.kind == "marks",
    "kind value status reason comment flags text_format comparison_id",
)
decisions = _view(
    "decision",
    rater_answers,
    rater_answers.c.kind == "choice",
    "kind ranges after_reveal seen_more late flags assignment_id",
)
replies = _view(
    "reply",
    rater_answers,
    rater_answers.c.kind == "reply",
    "kind value ranges reason flags text_format comparison_id after_reveal seen_more late",
    comment="words",
)

scores = _view(
    "score",
    scorer_answers,
    scorer_answers.c.item == "",
    "item ranges value_first value_second second_response_id",
)
imported_marks = _view(
    "imported_marks",
    scorer_answers,
    scorer_answers.c.item == "marks",
    "item value missing_reason value_first value_second inclusion_prob stratum source rule layout "
    "second_response_id low_is_good",
)
preferences = _view(
    "preference",
    scorer_answers,
    scorer_answers.c.second_response_id.is_not(None),
    "item ranges inclusion_prob stratum source rule layout low_is_good",
    response_id="response_a_id",
    second_response_id="response_b_id",
    value_first="value_a_first",
    value_second="value_b_first",
)
