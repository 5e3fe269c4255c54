"""The labeling configuration: every text is shown as text, every construct asked for once."""

import unicodedata
from pathlib import Path
from shutil import copytree
from typing import Any
from xml.etree import ElementTree

import pytest

from annotate_ui.label_studio.annotation_reader import AnnotationReader
from annotate_ui.label_studio.annotations import Annotation
from annotate_ui.label_studio.page import configuration, control_name, instructions
from annotate_ui.label_studio.task_upload import task_data, task_names
from study import Study
from study.base.scales import Scale
from study.importing.import_store import import_rows
from study.importing.rows import LocatedRow, ResponseRow
from study.settings.constructs import CCRS, ConstructSpec
from tests.annotate_ui.rated_campaign import fill

VERSIONS = {spec.key: 1 for spec in CCRS}


def test_each_construct_is_a_number_that_must_be_given() -> None:
    made = configuration(("question", "response", "context", "reference"), CCRS, VERSIONS)
    root = ElementTree.fromstring(made.xml)
    numbers = list(root.iter("Number"))
    assert [number.get("name") for number in numbers] == ["QR", "CC", "ID", "AC", "IR"]
    for number in numbers:
        assert {number.get(name) for name in ("min", "max", "required", "step")} == {
            "0",
            "100",
            "true",
            "any",
        }
        assert number.get("slider") is None
    assert '"0: completely irrelevant"' in made.xml
    names = {element.tag for element in root.iter()}
    assert not names & {"HyperText", "Paragraphs"}
    assert [control["kind"] for control in made.controls.values()].count("flags") == 3


def test_a_construct_of_ones_own_keeps_its_words_and_its_grid() -> None:
    cost = ConstructSpec(
        key='cost "in" $',
        name="Cost in $",
        question='<b onclick="x">How much?</b> $question',
        scale=Scale(min=1, max=50, step=1),
        anchors={"50": "much", "1": "nothing"},
    )
    made = configuration(("response",), [cost], {cost.key: 3})
    (name, comment) = made.controls
    assert (name, comment) == (control_name(cost.key), "comment")
    assert name.startswith("construct_")
    assert made.controls[name]["construct_version"] == 3
    (number,) = ElementTree.fromstring(made.xml).iter("Number")
    assert (number.get("step"), number.get("hint")) == ("1", "1 to 50")
    headers = [header.get("value") for header in ElementTree.fromstring(made.xml).iter("Header")]
    assert headers[-2:] == ["1: nothing", "50: much"]
    # A dollar begins the name of a field there.
    assert "$question" not in made.xml
    assert 'name="response" value="$response"' in made.xml


@pytest.mark.parametrize(
    ("scale", "points"),
    [
        (Scale(min=1, max=5, step=1), ["1", "2", "3", "4", "5"]),
        (Scale(min=-0.3, max=0.3, step=0.3), ["-0.3", "0", "0.3"]),
        (Scale(min=0, max=11, step=1), []),
        (Scale(min=0, max=5), []),
    ],
)
def test_the_points_of_a_scale_with_few_are_ticked(scale: Scale, points: list[str]) -> None:
    spec = ConstructSpec(key="A", name="A", question="?", scale=scale)
    made = configuration(("response",), [spec], {"A": 1})
    root = ElementTree.fromstring(made.xml)
    assert [choice.get("value") for choice in root.iter("Choice")] == points
    assert (next(root.iter("Number"), None) is None) == bool(points)
    assert list(made.controls["A"].get("labels", {})) == points
    for choices in root.iter("Choices"):
        assert (choices.get("choice"), choices.get("required")) == ("single", "true")


def test_no_control_has_the_hotkey_of_another_or_of_a_key() -> None:
    xml = configuration(("response",), CCRS, VERSIONS).xml
    root = ElementTree.fromstring(xml)
    asked = [element for element in root.iter() if element.tag in {"Number", "Choice"}]
    hotkeys = [element.get("hotkey") or "" for element in asked]
    assert len(set(hotkeys)) == len(asked) == 9
    assert all(unicodedata.category(hotkey) == "Co" for hotkey in hotkeys)


def test_a_remark_is_shown_as_it_is_and_comes_back_as_it_was_written() -> None:
    remarked = ConstructSpec(key="A", name="A\x01\x1b", question="\x0b?", flags=("$price", "b"))
    made = configuration(("response",), [remarked], {"A": 1})
    root = ElementTree.fromstring(made.xml)
    assert [choice.get("value") for choice in root.iter("Choice")] == ["＄price", "b"]
    body = {
        "id": 1,
        "completed_by": 1,
        "created_at": "2026-01-01T10:00:00Z",
        "result": [
            {"from_name": "A", "value": {"number": 3}},
            {"from_name": "A_flags", "value": {"choices": ["＄price"]}},
        ],
    }
    reader = AnnotationReader(made.controls, {}, None)
    annotation = reader.read(body, {"id": 1}, {})
    assert isinstance(annotation, Annotation)
    assert (annotation.answers[0].flags, annotation.invalid) == (("$price",), [])


@pytest.mark.parametrize("key", ["comment", "response", "QR_flags", "Ä", "a b", "1"])
def test_a_key_that_cannot_name_a_control_gets_a_generated_name(key: str) -> None:
    assert control_name(key) != key
    assert control_name(key) == control_name(key)


def test_a_task_holds_the_fields_of_its_stage_and_no_system(study: Study) -> None:
    fill(study, queries=1, systems=2)
    with study.read() as connection:
        first = task_data(connection, [1, 2], ("question", "response"))
        (last,) = task_data(connection, [1], ("response", "context", "reference"))
    assert first == [
        {"question": "question-0", "response": "response-0-0"},
        {"question": "question-0", "response": "response-0-1"},
    ]
    assert set(last) == {"response", "reference", "passages"}
    assert [passage["title"] for passage in last["passages"]] == ["Passage 1", "Passage 2"]
    with study.read() as connection:
        names = [task_names(connection, stage) for stage in (1, 2)]
    assert len({name for of_stage in names for name in of_stage.values()}) == 4


def test_the_name_of_a_task_depends_on_each_of_its_texts(tmp_path: Path) -> None:
    Study.create(tmp_path / "study").close()
    texts = {"query": "?", "response": "r", "references": ("x",)}
    changes = ({}, {"query": "Who?"}, {"response": "s"}, {"references": ("y",)})
    names = set()
    for number, change in enumerate(changes):
        # Copies of one study, so that all have its name and the same number of the response.
        folder = copytree(tmp_path / "study", tmp_path / f"copy-{number}")
        study = Study.open(folder)
        row: Any = ResponseRow.model_validate({"query_id": "q", "system": "A", **texts, **change})
        import_rows(study, [LocatedRow(1, row)], source="s", sha256="s", importer="responses")
        with study.read() as connection:
            names |= set(task_names(connection, 1).values())
        study.close()
    assert len(names) == len(changes)


def test_instructions_contain_the_rules_and_the_owners_text_without_scripts(
    study: Study,
) -> None:
    (study.folder / "instructions.md").write_text("# Read\n<script>x</script> **this**")
    rating = study.config.rating.model_copy(update={"instructions": "instructions.md"})
    object.__setattr__(study, "config", study.config.model_copy(update={"rating": rating}))
    text = instructions(study, CCRS[:1], "Stage 1 of <b>mine</b>")
    assert "<strong>this</strong>" in text
    assert "<script>" not in text
    assert "&lt;b&gt;mine" in text
    assert "type the other digits" in text
    assert "Whether the answer is true does not matter here" in text
