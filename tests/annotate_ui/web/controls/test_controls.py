"""Controls: which scales each fits, which is chosen, and one that another package brings."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from annotate_ui.participants.invitation import invite
from annotate_ui.web.app import create_app
from annotate_ui.web.controls.control import control_of, controls
from annotate_ui.web.controls.points import scale_points
from annotate_ui.web.controls.slider import anchor_places
from annotate_ui.web.controls.switch import choices
from annotate_ui.web.rate_limits import limiter
from study import Study
from study.errors import StudyError
from study.export.study_export import export_study
from study.settings.constructs import ConstructSpec
from tests.annotate_ui.rated_campaign import fill, give, ratings
from tests.annotate_ui.web.conftest import Browser

FIVE = {"1": "useless", "2": "hardly", "3": "partly", "4": "mostly", "5": "entirely"}


def spec(scale: dict[str, object], anchors: dict[str, str]) -> ConstructSpec:
    return ConstructSpec.model_validate(
        {
            "key": "use",
            "name": "Usefulness",
            "question": "How useful?",
            "sees": ["response"],
            "scale": scale,
            "anchors": anchors,
        }
    )


@pytest.mark.parametrize(
    ("scale", "anchors", "wanted"),
    [
        ({"min": 1, "max": 5, "step": 1}, FIVE, "12345"),
        ({"min": 1, "max": 5, "step": 1, "level": "ordinal"}, {"1": "low"}, "12345"),
        ({"min": 1, "max": 5, "step": 1}, {"1": "low", "5": "high"}, None),
        ({"min": 0, "max": 10, "step": 1, "level": "ordinal"}, {}, "012345678910"),
        ({"min": 0, "max": 11, "step": 1, "level": "ordinal"}, {}, None),
        ({"min": 0, "max": 1, "step": 0.25, "level": "ordinal"}, {}, "00.250.50.751"),
        ({"min": 0, "max": 100}, {"0": "low", "100": "high"}, None),
    ],
    ids=["labelled", "ordinal", "interval", "eleven", "twelve", "quarters", "no step"],
)
def test_points_to_choose_from(
    scale: dict[str, object], anchors: dict[str, str], wanted: str | None
) -> None:
    construct = spec(scale, anchors)
    points = scale_points(construct)
    values = None if points is None else "".join(point.value for point in points.points)
    assert values == wanted


def test_points_are_in_a_row_where_their_labels_are_short() -> None:
    scale: dict[str, object] = {"min": 1, "max": 5, "step": 1}
    long = {**FIVE, "3": "useful to some, and of no use to most others"}
    for anchors, short in ((FIVE, True), (long, False)):
        construct = spec(scale, anchors)
        points = scale_points(construct)
        assert points is not None
        assert points.short is short
        assert [point.text for point in points.points] == list(anchors.values())


@pytest.mark.parametrize(
    ("scale", "anchors", "wanted"),
    [
        ({"min": 0, "max": 1, "step": 1}, {"0": "No", "1": "Yes"}, "ny"),
        ({"min": 0, "max": 1, "step": 1}, {"0": "Partly", "1": "Perfectly"}, "01"),
        ({"min": 1, "max": 5, "step": 1}, FIVE, "12345"),
        ({"min": 0, "max": 1, "step": 1, "level": "ordinal"}, {"0": "No"}, ""),
        ({"min": 0, "max": 1, "step": 0.5}, {"0": "No", "0.5": "Half", "1": "Yes"}, ""),
        ({"min": 0, "max": 10, "step": 1, "level": "ordinal"}, {}, ""),
    ],
    ids=["yes and no", "same letters", "five", "not all named", "halves", "eleven"],
)
def test_choices_of_a_switch_have_their_keys(
    scale: dict[str, object], anchors: dict[str, str], wanted: str
) -> None:
    assert "".join(choice.key for choice in choices(spec(scale, anchors))) == wanted


def test_anchors_between_the_ends_have_their_place() -> None:
    anchors = {"0": "shallow", "25": "names it", "60": "explains it", "100": "in full"}
    places = anchor_places(spec({"min": 0, "max": 100}, anchors))
    assert [(place.at, place.end) for place in places] == [
        (0, "first"),
        (25, ""),
        (60, ""),
        (100, "last"),
    ]


@pytest.mark.parametrize(
    "anchors",
    [
        {"0": "low", "100": "high"},
        {"0": "low", "5": "a little", "100": "high"},
        {"0": "low", "50": "a sentence of more words than fit under a place", "100": "high"},
    ],
    ids=["only the ends", "too close", "too long"],
)
def test_anchors_without_places_are_next_to_or_below_each_other(anchors: dict[str, str]) -> None:
    assert anchor_places(spec({"min": 0, "max": 100}, anchors)) == ()


@pytest.mark.parametrize(
    ("scale", "control", "wanted"),
    [
        ({"min": 0, "max": 1, "step": 1, "level": "ordinal"}, None, "points"),
        ({"min": 0, "max": 100}, None, "slider"),
        ({"min": 0, "max": 1, "step": 1, "level": "ordinal"}, "slider", "slider"),
        ({"min": 0, "max": 1, "step": 1, "level": "ordinal"}, "points", "points"),
    ],
)
def test_a_construct_gets_the_control_it_names_or_the_first_that_fits(
    scale: dict[str, object], control: str | None, wanted: str
) -> None:
    construct = spec(scale, {}).model_copy(update={"control": control})
    assert control_of(construct).name == wanted


@pytest.mark.parametrize(
    ("control", "message"),
    [
        (
            "sldier",
            "control of the construct 'use' in study.toml: unknown .* Did you mean 'slider'",
        ),
        ("points", "'points' needs a scale with 2 to 11 points"),
        ("switch", "'switch' needs a scale of 2 to 10 whole numbers"),
    ],
)
def test_a_control_that_cannot_be_used_is_refused(control: str, message: str) -> None:
    with pytest.raises(StudyError, match=message):
        control_of(spec({"min": 0, "max": 100}, {}).model_copy(update={"control": control}))


MODULE = """
from pathlib import Path
from annotate_ui.web.controls.control import Control

def misfit(spec):
    return None if spec.scale.step == 1 else "a scale in steps of 1"

CONTROL = Control("stars", Path(__file__).parent, "stars", misfit, lambda spec: int(spec.scale.max))
"""
TEMPLATE = """
{% for n in range(1, view + 1) %}
<button type="button" id="{{ id }}-{{ n }}">{{ n }}</button>
{% endfor %}
"""
SCRIPT = """
import { register } from "../controls.js";
register("stars", (box, { commit }) => {
  box.addEventListener("click", (event) => commit(Number(event.target.textContent)));
  return { show() {}, cancel() {}, flush: () => false };
});
"""
CONSTRUCT = """
[[constructs]]
key = "FL"
name = "Fluency"
question = "How well does it read?"
sees = ["response"]
scale = { min = 0, max = 5, step = 1 }
control = "stars"
comment_question = "Which words are wrong?"
"""


@pytest.fixture
def stars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return the folder of an installed package that brings a control: the files of the walk."""
    package = tmp_path / "site"
    about = package / "stars-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: stars\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[ccrs.controls]\nstars = stars:CONTROL\n")
    (package / "stars.py").write_text(MODULE)
    (package / "stars.html").write_text(TEMPLATE)
    (package / "stars.js").write_text(SCRIPT)
    monkeypatch.syspath_prepend(str(package))
    controls.cache_clear()
    yield package
    controls.cache_clear()
    sys.modules.pop("stars", None)
    limiter.reset()


@pytest.mark.usefixtures("stars")
def test_a_control_of_another_package_is_shown_and_its_values_are_stored(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "study")
    with (study.folder / "study.toml").open("a") as file:
        file.write(CONSTRUCT)
    study.close()
    study = Study.open(study.folder)
    fill(study, queries=1, systems=1)
    give(study, "anna", keys=["FL"])
    (made,) = invite(study, ["anna"])
    app = create_app(study, b"k" * 32)
    anna = Browser(app.test_client())
    anna.begin(made.link)
    page = anna.go_on().get_data(as_text=True)
    assert 'data-control="stars" data-input-kind="stars"' in page
    assert len(re.findall(r'<button type="button" id="FL-\d">', page)) == 5
    (script,) = re.findall(r'src="([^"]+/controls/stars\.js)"', page)
    answer = anna.client.get(script)
    assert answer.mimetype == "text/javascript"
    assert "immutable" in answer.headers["Cache-Control"]
    assert 'register("stars"' in answer.text
    answer.close()
    assert anna.client.get(script.replace("stars", "slider")).status_code == 404
    assert ">Which words are wrong?</label>" in page
    first = {"key": uuid4().hex, "input_kind": "stars", "comment": "The last two"}
    assert anna.save("FL", 4.0, **first).status_code == 200
    assert [(row.value, row.input_kind) for row in ratings(study)] == [(4.0, "stars")]
    refused = anna.save("FL", 3.0, base=1, input_kind="slider")
    assert (refused.status_code, refused.get_json()["field"]) == (422, "input_kind")
    # The answer in words has a file of its own, apart from the values.
    done = export_study(study, tmp_path / "export")
    files = {"responses.csv": 1, "scores.csv": 1, "answers.csv": 1, "ratings.csv": 1}
    assert done.files == files
    (answered,) = (tmp_path / "export" / "answers.csv").read_text().splitlines()[1:]
    assert answered.endswith(",FL,anna,The last two")
    study.close()
    app.config["STUDY"].close()


def test_a_control_without_its_files_is_refused(stars: Path) -> None:
    (stars / "stars.js").unlink()
    with pytest.raises(StudyError, match=r"lacks .*stars\.js"):
        controls()
