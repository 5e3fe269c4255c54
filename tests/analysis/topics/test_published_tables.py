"""The CCRS paper's tables of differences, with their p, where they are asked for."""

import pytest

from analysis import Options, analyse
from analysis.core.analysis import Analysis
from analysis.pipeline.report_files import as_document
from analysis.render.output_files import as_json
from analysis.render.section import chapter
from analysis.render.table import Table
from analysis.topics.discrimination.section import SECTION
from tests.analysis.scores import simulated, table

pytestmark = pytest.mark.usefixtures("without_drawing")


def analysed(published: bool) -> Analysis:
    frame = simulated(queries=12, systems=3, constructs=("QR", "CC"))
    frame["system"] = frame["system"].map({"s0": "A", "s1": "B", "s2": "C"})
    return analyse(table(frame), options=Options(resamples=100, published=published))


@pytest.fixture(scope="module")
def published() -> Analysis:
    return analysed(published=True)


@pytest.fixture
def shown(published: Analysis) -> dict[str, Table]:
    made = chapter(SECTION, published)
    assert made is not None
    return {part.key: part for part in made.tables if part.key.startswith("published")}


def test_every_pair_has_its_published_p(shown: dict[str, Table]) -> None:
    rows = {(row[0].text, row[1].text): row for row in shown["published-differences"].rows}
    assert len(rows) == 5 * 15
    paper = rows["CC", "A minus B"]
    assert [cell.text for cell in paper[2:4]] == ["-0.66", "p = .82"]
    assert rows["CC", "A minus C"][3].text == "p < .0001"
    assert paper[4].text
    assert paper[5].text.startswith("p ")
    assert not rows["CC", "E minus F"][4].text


def test_powers_and_hypotheses_are_shown(shown: dict[str, Table]) -> None:
    power = {row[0].text: row for row in shown["published-power"].rows}
    assert [cell.text for cell in power["QR"][1:4]] == ["2", "0.93", "14 of 15"]
    assert power["QR"][4].text
    assert power["RAGChecker P"][2].text == "0.20"
    others = {row[1].text: row[2].text for row in shown["published-others"].rows}
    assert others["H1"] == "p < 0.0001"
    assert others["H3"] == "0.0070"


def test_json_has_every_table_that_ships(published: Analysis) -> None:
    document = as_json(as_document(published))
    assert document["published"]["table20_24_pairwise"]["CC"]["AB"]["p"] == 0.8236
    assert as_json(as_document(analysed(published=False)))["published"] is None
