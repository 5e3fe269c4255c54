"""Metrics that score a response, and the classes to write one."""

from judge.metrics.metric import (
    Metric,
    MetricInput,
    MetricValue,
    MissingValue,
    NoValueError,
    Prompt,
    Steps,
)
from judge.prompts.step_prompts import step_prompts
from judge.protocol.exchange import Answer

__all__ = [
    "Answer",
    "Metric",
    "MetricInput",
    "MetricValue",
    "MissingValue",
    "NoValueError",
    "Prompt",
    "Steps",
    "step_prompts",
]
