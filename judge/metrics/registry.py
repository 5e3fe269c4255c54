"""Metrics by name: the entry points `ccrs.metrics` of all packages, or a Python file."""

import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from itertools import chain
from pathlib import Path
from types import CodeType

from judge.metrics.bert_score import BERT_SCORES
from judge.metrics.embedding import ContextRelevance, Similarity
from judge.metrics.metric import Metric
from judge.metrics.nli import NLI, NliFaithfulness, NliHallucination
from judge.metrics.retrieval import NAMES
from judge.prompts.template import PAPER
from study.entry_points import entry_points
from study.errors import StudyError, nearest

GROUP = "ccrs.metrics"
SUITES = {
    "lexical": ("EM", "EM-normalized", "F1", "BLEU", "chrF", "ROUGE-1", "ROUGE-2", "ROUGE-L"),
    "usage": ("context-usage", "novel-words"),
    "retrieval": ("RR", "hit", "precision", "recall", "NDCG", "AP"),
    "embedding": (Similarity.name, ContextRelevance.name, "BERTScore"),
    "nli": (NliFaithfulness.name, NliHallucination.name),
}
"""Names for several metrics without prompts. Their variants have names only."""

WITHOUT_PROMPTS = tuple(dict.fromkeys(chain(*SUITES.values(), NAMES, BERT_SCORES, NLI)))
"""All metrics without prompts, those of suites first."""

PROMPTED_SUITES = {
    "ragchecker": (
        "ragchecker-precision",
        "ragchecker-recall",
        "ragchecker-f1",
        "ragchecker-hallucination",
        "ragchecker-faithfulness",
        "ragchecker-self-knowledge",
        "ragchecker-claim-recall",
        "ragchecker-context-precision",
        "ragchecker-context-utilization",
        "ragchecker-noise-relevant",
        "ragchecker-noise-irrelevant",
    ),
    "ragchecker-together": (
        "ragchecker-together-hallucination",
        "ragchecker-together-faithfulness",
        "ragchecker-together-self-knowledge",
        "ragchecker-together-claim-recall",
        "ragchecker-together-context-precision",
        "ragchecker-together-context-utilization",
        "ragchecker-together-noise-relevant",
        "ragchecker-together-noise-irrelevant",
    ),
    "ragas": (
        "ragas-faithfulness",
        "ragas-answer-relevance",
        "ragas-answer-correctness",
        "ragas-context-precision",
        "ragas-context-recall",
        "ragas-context-relevance",
    ),
    "trulens": (
        "trulens-context-relevance",
        "trulens-answer-relevance",
        "trulens-groundedness",
    ),
    "crud": ("crud-recall", "crud-precision"),
    "ares": ("ares-context-relevance", "ares-answer-faithfulness", "ares-answer-relevance"),
    "nuggets": ("nugget-vital-strict", "nugget-all-strict"),
    "citations": ("citation-recall", "citation-precision"),
}
"""Names for several metrics that ask a model and share their prompts, in the order of lists."""

ASKED_FIRST = frozenset({"ragchecker-noise-relevant", "ragchecker-together-noise-relevant"})
"""Metrics that ask all prompts on passages, so that those on one passage follow each other: the
others of the suite use their answers."""


def expanded(names: str) -> tuple[str, ...]:
    """Return the metrics that a list names, separated by commas, with suites expanded."""
    parts = [part for name in names.split(",") if (part := name.strip())]
    return tuple(dict.fromkeys(chain(*(PROMPTED_SUITES.get(part, (part,)) for part in parts))))


def suite_of(key: str) -> str:
    """Return the suite of a metric that asks a model; a metric without a suite is one by itself."""
    return next((name for name, keys in PROMPTED_SUITES.items() if key in keys), key)


def metric_names() -> list[str]:
    """Return the names of all metrics, in alphabetical order."""
    return sorted({entry.name for entry in entry_points(group=GROUP)})


def load_metric(name: str, prompts: str = PAPER, study_folder: Path | None = None) -> Metric:
    """Return the metric of this name.

    Parameters
    ----------
    name
        As in the entry points, or the path of a Python file (`.py`) that defines one metric.
    prompts
        Prompt version, for a metric that has several.
    study_folder
        A study with further prompt versions.

    Raises
    ------
    StudyError
        The metric is unknown, cannot be loaded, or does not have the prompt version.
    """
    if name.endswith(".py"):
        return _from_file(Path(name)).create(prompts, study_folder)
    entries = {entry.name: entry for entry in entry_points(group=GROUP)}
    if name in PROMPTED_SUITES:
        raise StudyError(f"{name} asks a model; use `ccrs judge STUDY --metric {name}` instead.")
    if name not in entries:
        known = {*entries, *SUITES, *WITHOUT_PROMPTS}
        if name in known:
            raise StudyError(f"{name} is measured by `ccrs measure STUDY --metrics {name}` only.")
        raise StudyError(
            f"Unknown metric {name!r}. {nearest(name, known)} Known: {', '.join(sorted(entries))}; "
            f"suites {', '.join(SUITES)}: `ccrs measure --help` lists their metrics.".replace(
                "  ", " "
            )
        )
    try:
        loaded = entries[name].load()
    except ImportError as error:
        raise StudyError(
            f"The metric {name!r} can't be loaded ({error}). Install or update the package that "
            "provides it."
        ) from error
    if not (isinstance(loaded, type) and issubclass(loaded, Metric)):
        raise StudyError(f"The metric {name!r} is not a subclass of judge.metrics.metric.Metric.")
    metric: Metric = loaded.create(prompts, study_folder)
    if metric.key != name:
        raise StudyError(
            f"The metric {name!r} has the key {metric.key!r}; an entry point is named by the key."
        )
    return metric


class _SourceLoader(SourceFileLoader):
    """Compiles the file at each load: cached bytecode of a file edited within a second is stale."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


def _from_file(path: Path) -> type[Metric]:
    """Return the metric that a Python file defines."""
    path = path.resolve()
    name = f"ccrs_metric_{path.stem}"
    spec = spec_from_file_location(name, path, loader=_SourceLoader(name, str(path)))
    if not path.is_file() or spec is None or spec.loader is None:
        raise StudyError(f"{path} is not a Python file.")
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except StudyError:
        raise
    except Exception as error:
        raise StudyError(
            f"{path}: the metric can't be loaded ({type(error).__name__}: {error})."
        ) from error
    metrics = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Metric) and value.__module__ == name
    ]
    if len(metrics) != 1:
        names = ", ".join(metric.__name__ for metric in metrics) or "none"
        raise StudyError(f"{path} must define exactly one metric; it defines {names}.")
    return metrics[0]
