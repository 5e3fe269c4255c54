"""The tables of a study, for statements without the ORM."""

from sqlalchemy import select

from study.schema.base import table
from study.schema.content import Output, Passage, Query, Response, ResponseAlias, ResponsePassage
from study.schema.external import ExternalProject, ExternalRater, ExternalTask, RejectedValue
from study.schema.human_ratings import (
    Assignment,
    ClosingAnswer,
    Invitation,
    OpenedPassage,
    Rater,
    Rating,
    Reveal,
)
from study.schema.imports import ImportedFile, Preference, Score
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
from study.schema.sentence_marks import ImportedMarks, SentenceMarks
from study.schema.study_design import CheckPair, Comparison, Construct, Decision, ExpectedValue

assignments = table(Assignment)
check_pairs = table(CheckPair)
closing_answers = table(ClosingAnswer)
comparisons = table(Comparison)
consents = table(Consent)
constructs = table(Construct)
decisions = table(Decision)
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
imported_marks = table(ImportedMarks)
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
preferences = table(Preference)
queries = table(Query)
raters = table(Rater)
ratings = table(Rating)
readings = table(Reading)
rejected_values = table(RejectedValue)
responses = table(Response)
response_aliases = table(ResponseAlias)
response_passages = table(ResponsePassage)
reveals = table(Reveal)
scores = table(Score)
sentence_marks = table(SentenceMarks)
step_answers = table(StepAnswer)
study_identities = table(StudyIdentity)

# The answers of judges by what they are about. Answers are inserted into `judge_answers`.
_of = judge_answers.c
judgments = select(judge_answers).where(_of.item == "").subquery("judgment")
probe_answers = select(judge_answers).where(_of.probe.is_not(None)).subquery("probe_answer")
pair_answers = (
    select(judge_answers).where(_of.second_response_id.is_not(None)).subquery("pair_answer")
)
# Answers to steps for the run itself, without those for probes.
run_step_answers = select(step_answers).where(step_answers.c.probe == "").subquery("step_answer")
