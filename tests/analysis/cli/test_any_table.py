"""Each command that takes a table ends on any of them with its result or with a sentence."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given, settings, strategies as st

from analysis.decisions.records import TARGETS, USES
from tests.analysis.shapes import Shape, declared_scale, frame, shapes
from tests.ccrs_command import Done, in_process, program
from tests.conftest import examples

pytestmark = pytest.mark.usefixtures("without_drawing")

#: Words of each command around the place of the table.
COMMANDS = (
    "report {} --text --resamples 100",
    "check {} --resamples 100 " + " ".join(f"--require {use}=likely" for use in USES),
    "plan {} --queries 10 --raters 2 --runs 2",
    "judge rank {}",
    "doctor {}",
)
WHOLE = "report {} --resamples 100 --no-verify"
NAMES = ("text", "check", "plan", "rank", "doctor", "report")

#: Examples of a command in a usual run, and of the search on larger tables: a report of one takes
#: a second, and each run of CI draws others.
USUALLY, WIDELY = 40, 100

REQUIREMENTS = st.builds(
    "{}{}{}={}".format,
    st.sampled_from(("", "QR:")),
    st.sampled_from(USES),
    st.sampled_from(("", "", *(f"@{target}" for target in TARGETS))),
    st.sampled_from(("yes", "likely")),
)

USUAL = Shape((3,) * 20, 3, 2, 0.25, 0.2, (), "ordinal", 1)

#: Tables on which commands once broke, or that are at the edge.
DOMINATED = Shape((60, *[2] * 19), 1, 1, 0.0, 0.0, (), "interval", 3)
ONE_RESPONSE = Shape((1,), 1, 1, 1.0, 0.0, (), None, 0)
CONSTANT = Shape((3,) * 20, 3, 2, 0.25, 0.2, ("judge", "rater-1"), "ordinal", 1)

#: Two judges whose difference has no value without any of the queries.
WITHOUT_NONE = Shape((3, 1, 6, 3), 6, 4, 0.0, 0.2, (), "interval", 51134)

#: Every draw from it repeats one query, so that neither queries nor raters differ.
ONE_QUERY = Shape((5,), 4, 2, 1.0, 0.2, (), None, 0)


@contextmanager
def written(shape: Shape) -> Iterator[list[str]]:
    """The file of a table, and the words that declare its scale."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "scores.csv"
        frame(shape, judges=2).to_csv(path, index=False)
        scale = (declared_scale(shape) or {}).get("QR")
        words = [] if scale is None else ["--scale", f"0:1:{scale.step:g}:{scale.level}"]
        yield [str(path), *words]


@pytest.mark.parametrize(
    "command", [*COMMANDS, pytest.param(WHOLE, marks=pytest.mark.slow)], ids=NAMES
)
@settings(deadline=None, max_examples=examples(USUALLY))
@given(shape=shapes(most=12))
@example(shape=WITHOUT_NONE)
@example(shape=ONE_QUERY)
def test_any_table(command: str, shape: Shape) -> None:
    with written(shape) as table:
        _ends_well(in_process(*_words(command, table)))


@pytest.mark.parametrize("command", [*COMMANDS, WHOLE], ids=NAMES)
@settings(deadline=None, max_examples=examples(WIDELY))
@given(shape=shapes())
@example(shape=DOMINATED)
@example(shape=ONE_RESPONSE)
@example(shape=CONSTANT)
@pytest.mark.slow
def test_any_larger_table(command: str, shape: Shape) -> None:
    with written(shape) as table:
        _ends_well(in_process(*_words(command, table)))


@settings(deadline=None, max_examples=examples(WIDELY))
@given(shape=shapes(), requirements=st.lists(REQUIREMENTS, min_size=1, max_size=3))
@pytest.mark.slow
def test_any_requirement(shape: Shape, requirements: list[str]) -> None:
    required = " ".join(f"--require {requirement}" for requirement in requirements)
    with written(shape) as table:
        _ends_well(in_process(*_words(f"check {{}} --resamples 100 {required}", table)))


@pytest.mark.slow
def test_a_usual_table_by_the_program() -> None:
    with written(USUAL) as table:
        for command in COMMANDS:
            ended = program(*_words(command, table))
            _ends_well(ended)
            assert ended.returncode < 2, ended.stderr


def _words(command: str, table: list[str]) -> list[str]:
    path, *scale = table
    return [word.format(path) for word in command.split()] + scale


def _ends_well(done: Done) -> None:
    """A result without numbers that are none, or one error in words."""
    status, out, err = done.returncode, done.stdout, done.stderr
    assert status in {0, 1, 2}
    assert "Traceback" not in err
    assert not re.search(r"(?<![\w.-])(nan|NaN|inf|None)(?![\w.-])", out), out
    if status == 2 and not out:
        errors = [line for line in err.splitlines() if line.startswith("Error: ")]
        assert len(errors) == 1, err
    else:
        assert out.strip()
