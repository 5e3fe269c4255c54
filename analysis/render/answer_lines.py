"""The answers of a judge as lines, each with the figure that decides and what qualifies it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from analysis.core.statistic import Target
from analysis.decisions.described import Described
from analysis.decisions.records import Answer, Use, UseDecision
from analysis.render.decision_words import (
    COLUMNS,
    FOR_BOTH,
    TARGET_WORDS,
    USE_WORDS,
    answer_word,
    further_data,
    name_of_use,
    sentence,
    settled_by,
)
from analysis.render.sentences import fact, in_words


@dataclass(frozen=True)
class AnswerLine:
    """One use: the answer, and the figure that it rests on."""

    use: Use
    name: str
    answer: Answer
    word: str
    why: str
    settle: str | None
    """What would settle an open answer."""
    targets: tuple[Target, ...] = ()
    """The raters that it is about, where the use has answers about two kinds."""
    further: str | None = None
    """How many more queries or raters would settle it, in short."""
    on_some: str | None = None
    """On which constructs the answer is yes, where it is not for the judge as a whole."""


def answer_lines(
    described: Described, decisions: Sequence[UseDecision], construct: str | None = None
) -> Iterator[AnswerLine]:
    """The answers on a construct, or for a judge as a whole, each with the figure that decides."""
    whole = [d for d in decisions if d.construct == construct]
    shared = _shared_limits(whole) if construct is None else _repeated_limits(whole)
    by_use: dict[Use, list[UseDecision]] = {}
    for decision in whole:
        if decision.answer != "not_applicable":
            by_use.setdefault(decision.use, []).append(decision)
    for own in by_use.values():
        some = _yes_on_some(described, own, decisions) if construct is None else None
        for decision in _without_repetition(own):
            limits = tuple(limit for limit in decision.limits if limit not in shared)
            line = _line(described, replace(decision, limits=limits), own)
            yield replace(line, on_some=some if decision is own[0] else None)


def _line(described: Described, decision: UseDecision, own: Sequence[UseDecision]) -> AnswerLine:
    """One of the answers `own` on a use; it is about both targets if it stands for all of them."""
    text = sentence(described, decision)
    named = decision.binding is not None and decision.binding.estimate.systems
    # What is missing is what is needed first, and is in the sentence.
    settle = settled_by(decision) if decision.missing is None else None
    alone = len(_without_repetition(own)) < len(own)
    return AnswerLine(
        decision.use,
        FOR_BOTH.format(USE_WORDS[decision.use]) if alone else name_of_use(decision, own),
        decision.answer,
        answer_word(decision),
        # A sentence that begins with the name of a system keeps it as it is.
        text if named and text.startswith(named) else text[0].upper() + text[1:],
        None if settle is None else settle[0].upper() + settle[1:],
        tuple(d.target for d in own) if alone else (decision.target,) * (len(own) > 1),
        further_data(decision),
    )


def _yes_on_some(
    described: Described, own: Sequence[UseDecision], decisions: Sequence[UseDecision]
) -> str | None:
    """The constructs with a yes, and the figure of the one where it is clearest.

    `own` are the answers on one use for the judge as a whole. Of the two targets it is the one that
    says more.
    """
    if any(d.answer == "yes" for d in own):
        return None
    for target in dict.fromkeys(d.target for d in reversed(own)):
        yes = _clearest_first(decisions, own[0].use, target)
        if yes:
            return in_words(
                fact(
                    "yes_on_one" if len(yes) == 1 else "yes_on_several",
                    names=[described.full_name(construct) for construct, _ in yes],
                    whom=f", {TARGET_WORDS[target]}" if len(own) > 1 else "",
                    figure=sentence(described, yes[0][1]),
                )
            )
    return None


def _clearest_first(
    decisions: Sequence[UseDecision], use: Use, target: Target
) -> list[tuple[str, UseDecision]]:
    """The constructs on which the answer is yes, with the answer."""
    yes = [
        (d.binding.p, d.construct, d)
        for d in decisions
        if (d.use, d.target, d.answer) == (use, target, "yes")
        if d.construct is not None and d.binding is not None
    ]
    return [(construct, d) for _, construct, d in sorted(yes, key=lambda found: found[0])]


def _without_repetition(own: Sequence[UseDecision]) -> Sequence[UseDecision]:
    """The answers for these raters and for raters like these; one where they are the same.

    A yes for raters like these says more, as a no for these raters does.
    """
    if len(own) < 2 or own[0].answer != own[1].answer:
        return own
    if own[0].answer in {"yes", "no"}:
        return own[1:] if own[0].answer == "yes" else own[:1]
    return own[:1] if own[0].missing is not None and own[0].missing == own[1].missing else own


def _shared_limits(whole: Sequence[UseDecision]) -> tuple[str, ...]:
    """What qualifies every answer that has figures, if there are several."""
    asked = [d for d in whole if d.figures and d.answer != "no"]
    if len(asked) < 2:
        return ()
    return tuple(limit for limit in asked[0].limits if all(limit in d.limits for d in asked))


def _repeated_limits(construct_decisions: Sequence[UseDecision]) -> Mapping[str, list[UseDecision]]:
    """What qualifies several answers on a construct, with these answers."""
    found: dict[str, list[UseDecision]] = {}
    for decision in construct_decisions:
        if decision.figures and decision.answer != "no":
            for limit in decision.limits:
                found.setdefault(limit, []).append(decision)
    return {limit: answers for limit, answers in found.items() if len(answers) > 1}


def repeated_remarks(construct_decisions: Sequence[UseDecision]) -> Iterator[str]:
    """What qualifies several answers on a construct: 'Choose, level: ...'."""
    for limit, answers in _repeated_limits(construct_decisions).items():
        uses = dict.fromkeys(COLUMNS[d.use] for d in answers)
        yield in_words(fact("for_answers", uses=", ".join(uses), limits=limit))


def shared_remarks(whole: Sequence[UseDecision]) -> str | None:
    """What qualifies all answers, in one line."""
    shared = _shared_limits(whole)
    found = fact("for_answers", uses="For all answers", limits=", and ".join(shared))
    return in_words(found) if shared else None
