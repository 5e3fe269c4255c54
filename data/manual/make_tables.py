"""Write the tables that the manual shows: `python data/manual/make_tables.py`.

They are simulated: no person and no model gave these values.
"""

import csv
import io
import random
from collections.abc import Iterable, Iterator
from pathlib import Path

FOLDER = Path(__file__).parent / "tables"


class _Noise(random.Random):
    """Random numbers that are the same in every version of Python."""

    def normal(self, sd: float) -> float:
        """About normal with mean 0: `random` alone is promised not to change."""
        return sd * (sum(self.random() for _ in range(12)) - 6)


def tables() -> dict[str, str]:
    """The content of each file by its name."""
    return {
        "grades.csv": _written(["human", "llm"], _grades()),
        "verdicts.csv": _written(["question", "human", "judge"], _verdicts()),
        "quality.csv": _written(["question", "answer", "human_label", "llm_label"], _quality()),
        "judges.csv": _written(["prompt", "model", "gpt4o", "claude", "human"], _judges()),
        "bewertungen.csv": _written(
            ["Frage", "System", "Bewertung_Mensch", "Bewertung_KI"], _german(), delimiter=";"
        ),
        "raters.csv": _written(["h1", "h2", "h3", "llm"], _raters()),
        "judge_run.csv": _written(["trace", "evaluator", "score"], _judge_run()),
        "people.csv": _written(["trace", "annotator", "rating"], _people()),
        "shifted.csv": _written(["human", "llm"], _shifted()),
    }


def _written(columns: list[str], rows: Iterable[list[object]], delimiter: str = ",") -> str:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()


def _within(value: float, low: int, high: int, step: int = 1) -> int:
    return min(high, max(low, step * round(value / step)))


def _grades() -> Iterator[list[object]]:
    """A judge that orders well, with its level close to people's."""
    noise = _Noise(1)
    for _ in range(120):
        quality = 3.2 + noise.normal(1.3)
        human, judge = (_within(quality + noise.normal(0.5), 1, 5) for _ in range(2))
        yield [human, judge]


def _verdicts() -> Iterator[list[object]]:
    """A judge that passes a third of what people fail."""
    noise = _Noise(2)
    for number in range(1, 161):
        passed = noise.random() < 0.6
        same = noise.random() < (0.96 if passed else 0.64)
        judge = passed if same else not passed
        yield [f"Question {number}?", *("pass" if value else "fail" for value in (passed, judge))]


def _quality() -> Iterator[list[object]]:
    """Labels in words on three answers to each of 40 questions."""
    noise, words = _Noise(3), ("bad", "ok", "good")
    for number in range(1, 41):
        for answer in "ABC":
            quality = 1.1 + noise.normal(0.9)
            human, judge = (words[_within(quality + noise.normal(0.35), 0, 2)] for _ in range(2))
            yield [f"Question {number}?", f"Answer {answer} to question {number}.", human, judge]


def _judges() -> Iterator[list[object]]:
    """A judge that follows the person, and one that gives high grades and follows loosely."""
    noise = _Noise(14)
    systems = {"bm25": -0.7, "dense": 0.1, "hybrid": 0.9}
    for number in range(1, 61):
        for system, effect in systems.items():
            quality = 3.0 + effect + noise.normal(0.9)
            human, first = (_within(quality + noise.normal(0.5), 1, 5) for _ in range(2))
            second = _within(quality + 1.0 + noise.normal(1.3), 1, 5)
            yield [f"Question {number}?", system, first, second, human]


def _german() -> Iterator[list[object]]:
    """Semicolons, decimal commas, and German names of columns."""
    noise = _Noise(15)
    for number in range(1, 41):
        for system, effect in {"bm25": -1.6, "dense": 0.0, "hybrid": 1.6}.items():
            quality = 6.0 + effect + noise.normal(1.6)
            values = (_within(10 * (quality + noise.normal(0.7)), 0, 100, 5) for _ in range(2))
            yield [f"Frage {number}?", system, *(f"{v // 10},{v % 10}" for v in values)]


def _raters() -> Iterator[list[object]]:
    """One system, each question once, three raters and a judge as good as they are."""
    noise = _Noise(6)
    for _ in range(100):
        quality = 60 + noise.normal(20)
        people = [_within(quality + noise.normal(9), 0, 100, 5) for _ in range(3)]
        yield [*people, _within(quality + noise.normal(7), 0, 100, 5)]


def _traces() -> Iterator[tuple[str, int, int]]:
    """Trace, grade of the judge and of the person."""
    noise = _Noise(17)
    for number in range(1, 91):
        quality = 3.1 + noise.normal(1.2)
        judge, human = (_within(quality + noise.normal(0.45), 1, 5) for _ in range(2))
        yield f"trace-{number:03}", judge, human


def _judge_run() -> Iterator[list[object]]:
    for trace, judge, _ in _traces():
        yield [trace, "gpt-4o", judge]


def _people() -> Iterator[list[object]]:
    """People rated two thirds of the traces."""
    for number, (trace, _, human) in enumerate(_traces()):
        if number % 3:
            yield [trace, "anna", human]


def _shifted() -> Iterator[list[object]]:
    """A judge with the person's grades, each one point higher."""
    noise = _Noise(8)
    for _ in range(80):
        human = _within(2.6 + noise.normal(1.1), 1, 4)
        yield [human, human + 1]


def main() -> None:
    """Write all tables."""
    FOLDER.mkdir(exist_ok=True)
    for name, content in tables().items():
        (FOLDER / name).write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main()
