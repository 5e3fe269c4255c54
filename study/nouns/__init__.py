"""Every noun of a campaign: a base that validates, and the table that keeps it."""

from study.nouns.base import Noun, UTCDateTime, now, table
from study.nouns.constructs import Construct, ConstructBase
from study.nouns.content import (
    Output,
    OutputBase,
    Passage,
    PassageBase,
    Query,
    QueryBase,
    Response,
    ResponseAlias,
    ResponseBase,
    ResponsePassage,
    digest,
)
from study.nouns.human import (
    Assignment,
    AssignmentBase,
    Rater,
    RaterBase,
    Rating,
    RatingBase,
)
from study.nouns.imported import (
    ImportedFile,
    Preference,
    PreferenceBase,
    Score,
    ScoreBase,
    ScoredBase,
)
from study.nouns.judged import (
    JudgeRun,
    JudgeRunBase,
    Judgment,
    JudgmentBase,
    Reading,
    ReadingBase,
)

__all__ = [
    "Assignment",
    "AssignmentBase",
    "Construct",
    "ConstructBase",
    "ImportedFile",
    "JudgeRun",
    "JudgeRunBase",
    "Judgment",
    "JudgmentBase",
    "Noun",
    "Output",
    "OutputBase",
    "Passage",
    "PassageBase",
    "Preference",
    "PreferenceBase",
    "Query",
    "QueryBase",
    "Rater",
    "RaterBase",
    "Rating",
    "RatingBase",
    "Reading",
    "ReadingBase",
    "Response",
    "ResponseAlias",
    "ResponseBase",
    "ResponsePassage",
    "Score",
    "ScoreBase",
    "ScoredBase",
    "UTCDateTime",
    "digest",
    "now",
    "table",
]
