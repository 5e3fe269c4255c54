"""Columns of the tables that `analysis` takes, with their types."""

SCORE_COLUMNS = {
    "response_id": "str",
    "query_id": "str",
    "system": "str",
    "construct": "str",
    "scorer": "str",
    "scorer_kind": "str",
    "repeat": "int64",
    "value": "float64",
    "missing_reason": "str",
    "rule": "str",
    "inclusion_prob": "float64",
    "stratum": "str",
    "source": "str",
    "response_words": "float64",
    "position": "float64",
    "layout": "str",
    "domain": "str",
    "passages_opened": "str",
    "text_format": "str",
}
PREFERENCE_COLUMNS = {
    "query_id": "str",
    "response_a": "str",
    "response_b": "str",
    "construct": "str",
    "scorer": "str",
    "scorer_kind": "str",
    "repeat": "int64",
    "value": "float64",
    "missing_reason": "str",
    "value_a_first": "float64",
    "value_b_first": "float64",
    "text_format": "str",
}
MARK_COLUMNS = {
    "response_id": "str",
    "query_id": "str",
    "construct": "str",
    "scorer": "str",
    "scorer_kind": "str",
    "repeat": "int64",
    "sentence": "int64",
    "start": "int64",
    "end": "int64",
    "marked": "int64",
}
PROBE_COLUMNS = {
    "scorer": "str",
    "model": "str",
    "prompts": "str",
    "kind": "str",
    "probe": "str",
    "round": "int64",
    "fault": "str",
    "response_id": "str",
    "query_id": "str",
    "construct": "str",
    "value": "float64",
    "missing_reason": "str",
    "served": "str",
}

EXPECTED = " (expected)"
"""Suffix of a judge's name in tables, for the means of its distributions."""
