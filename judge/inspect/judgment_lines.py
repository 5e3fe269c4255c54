"""A judgment, and the texts that belong to it, as lines for a terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

from judge.text import printable_lines, quoted
from study.facts.marks_table import SentenceCount


def prompt_lines(prompt: str) -> list[str]:
    """Return a prompt, or another long text, with a bar before each line."""
    return [f"    | {line}" for line in printable_lines(prompt)]


def sentence_lines(sentences: Sequence[SentenceCount]) -> list[str]:
    """Return the sentences of the response with the number of people who marked them."""
    if not sentences:
        return []
    lines = [f"  sentences, with the people who marked them, of {sentences[0].asked}:"]
    for sentence in sentences:
        first, *others = printable_lines(sentence.text)
        lines.append(f"    {sentence.marked}  {first}")
        lines += [f"       {line}" for line in others]
    return lines


def judgment_lines(
    judgment: Mapping[str, Any], reasons: Mapping[str, str], *, has_steps: bool
) -> list[str]:
    """Return a judgment as lines; `reasons` explains those of missing values."""
    numbers = [
        f"{name} {judgment[name]}"
        for name, default in (("repeat", 0), ("attempt", 1))
        if judgment[name] != default
    ]
    details = [
        judgment["created_at"],
        *(judgment[name] for name in ("served_model", "fingerprint") if judgment[name]),
        *([f"ended by {judgment['finish_reason']}"] if judgment["finish_reason"] else []),
        *judgment["flags"],
    ]
    if has_steps:
        title = " of ".join(["judgment", ", ".join(numbers)]) if numbers else "judgment"
        lines = [f"{title}: {_reading(judgment, reasons)}"]
    else:
        title = " of ".join(["answer", ", ".join(numbers)]) if numbers else "answer"
        lines = [
            f"{title}: {quoted(judgment['raw_answer'])}",
            f"  read as {_reading(judgment, reasons)}",
        ]
    if judgment["reasoning"] is not None:
        lines.append("  reasoning before the answer:")
        lines += [f"    {line}" for line in printable_lines(judgment["reasoning"])]
    if judgment["reason"] is not None:
        lines.append("  its reason:")
        lines += [f"    {line}" for line in printable_lines(judgment["reason"])]
    lines += [f"  before: {_reading(reading, reasons)}" for reading in judgment["earlier"]]
    if judgment["distribution_mass"] is not None:
        lines.append(f"  {_distribution_line(judgment)}")
    return [*lines, f"  {', '.join(details)}"]


def _reading(reading: Mapping[str, Any], reasons: Mapping[str, str]) -> str:
    by = f" by parser {reading['parser_version']}" if reading["parser_version"] else ""
    if reading["value"] is None:
        reason = reading["missing_reason"]
        return f"missing, {reason} ({reasons.get(reason, 'no explanation')}){by}"
    rule = f", {reading['rule']}" if reading["rule"] else ""
    return f"{reading['value']:g}{rule}{by}"


def _distribution_line(figures: Mapping[str, Any]) -> str:
    mass = f"{figures['distribution_mass']:.1%} of the probability on scores"
    shape = (
        f"mode {figures['distribution_mode']:g}, variance {figures['distribution_variance']:.1f}"
    )
    if figures["expected"] is None:
        bounds = f"{figures['expected_low']:.1f} and {figures['expected_high']:.1f}"
        return f"distribution: mean between {bounds}, not used ({shape}, only {mass})"
    return f"distribution: mean {figures['expected']:.2f} ({shape}, {mass})"
