"""Stages, steps, and what is shown when."""

import pytest
from hypothesis import given, strategies as st
from sqlalchemy import select, update

from annotate_ui.tasks.refusals import InvalidError, NotYoursError
from annotate_ui.tasks.stages import FIELDS, stages
from annotate_ui.tasks.step_view import record_opened, show_page
from annotate_ui.tasks.steps import rater_work
from annotate_ui.tasks.workflow import open_next
from study import Study
from study.schema.tables import assignments, opened_passages, reveals
from study.settings.constructs import CCRS, ConstructSpec
from tests.annotate_ui.faked_clock import Clock
from tests.annotate_ui.rated_campaign import ALL, fill, finish_step, give


def test_ccrs_is_rated_in_three_stages() -> None:
    in_order = stages(CCRS)
    assert [(s.number, sorted(s.construct_keys), s.fields) for s in in_order] == [
        (1, ["QR"], ("question", "response")),
        (2, ["CC", "ID"], ("question", "response", "context")),
        (3, ["AC", "IR"], FIELDS),
    ]


def test_without_question_relevance_the_question_is_shown_only_where_a_construct_sees_it() -> None:
    coherence = [spec for spec in CCRS if spec.key == "CC"]
    assert stages(coherence)[0].fields == ("response", "context")


def test_disclosure_all_is_one_stage() -> None:
    (only,) = stages(CCRS, staged=False)
    assert only.construct_keys == set(ALL)
    assert only.fields == FIELDS


@given(st.lists(st.sets(st.sampled_from(FIELDS), min_size=1), min_size=1, max_size=8))
def test_a_stage_shows_only_what_constructs_up_to_it_see(seen: list[set[str]]) -> None:
    specs = [
        ConstructSpec(key=f"K{n}", name="n", question="?", sees=tuple(sees))
        for n, sees in enumerate(seen)
    ]
    in_order = stages(specs)
    by_key = {spec.key: set(spec.sees) for spec in specs}
    shown: set[str] = set()
    for stage in in_order:
        before = set(shown)
        for key in stage.construct_keys:
            shown |= by_key[key]
        assert set(stage.fields) == shown
        # Nobody who may not see the reference or the passages is asked after they were shown.
        for key in stage.construct_keys:
            for late in {"context", "reference"} & before:
                assert late in by_key[key] or "reference" in by_key[key]
    assert sorted(k for s in in_order for k in s.construct_keys) == sorted(by_key)


def test_a_rater_finishes_a_stage_for_a_whole_query_before_the_next_opens(
    any_study: Study,
) -> None:
    fill(any_study, queries=2, systems=2)
    anna = give(any_study, "anna")
    assert anna is not None
    order = [finish_step(any_study, anna) for _ in range(12)]
    assert [(s.query_number, s.stage.number, s.response_number) for s in order] == [
        (q, stage, r) for q in (1, 2) for stage in (1, 2, 3) for r in (1, 2)
    ]
    assert open_next(any_study, anna).step is None
    with any_study.read() as connection:
        progress = rater_work(connection, any_study.config, anna).progress
    assert (progress.done, progress.total, progress.left) == (20, 20, 0)
    assert (progress.queries_done, progress.queries_total) == (2, 2)


@pytest.mark.parametrize(("layout", "pages"), [("single", 12), ("side_by_side", 3)])
def test_side_by_side_a_stage_of_a_query_is_one_page(study: Study, layout: str, pages: int) -> None:
    fill(study, queries=1, systems=4)
    anna = give(study, "anna", keys=ALL)
    assert anna is not None
    with study.write() as connection:
        connection.execute(update(assignments).values(layout=layout))
        work = rater_work(connection, study.config, anna)
    assert len(work.pages) == pages
    assert sum(len(page.steps) for page in work.pages) == 12


def test_stages_keep_their_numbers_whichever_constructs_there_are(study: Study) -> None:
    without_relevance = [spec for spec in CCRS if spec.key != "QR"]
    assert [s.number for s in stages(without_relevance)] == [2, 3]
    assert [s.number for s in stages(CCRS, staged=False)] == [3]
    # A construct that leaves study.toml opens nothing that was not shown.
    fill(study, queries=1, systems=2)
    anna = give(study, "anna")
    assert anna is not None
    for _ in range(3):
        finish_step(study, anna)
    constructs = tuple(without_relevance)
    config = study.config.model_copy(update={"constructs": constructs})
    with study.read() as connection:
        work = rater_work(connection, config, anna)
    assert [(s.stage.number, s.part, s.opened) for s in work.steps] == [
        (2, 1, True), (2, 1, False), (3, 2, False), (3, 2, False)
    ]  # fmt: skip
    everything = study.config.rating.model_copy(update={"disclosure": "all"})
    config = study.config.model_copy(update={"rating": everything})
    with study.read() as connection:
        work = rater_work(connection, config, anna)
    assert [(s.stage.number, s.opened, s.shown) for s in work.steps] == [(3, False, ())] * 2


def test_a_repeat_is_a_separate_pass_and_records_what_was_seen(study: Study, clock: Clock) -> None:
    fill(study, queries=1, systems=1)
    anna = give(study, "anna")
    give(study, "anna", repeat=1)
    assert anna is not None
    steps = [finish_step(study, anna) for _ in range(3)]
    clock.forward(hours=25)
    steps += [finish_step(study, anna) for _ in range(3)]
    assert [(s.item.repeat, s.stage.number) for s in steps] == [
        (repeat, stage) for repeat in (0, 1) for stage in (1, 2, 3)
    ]
    from tests.annotate_ui.rated_campaign import ratings

    repeated = ratings(study)[5:]
    assert all(row.revealed == list(FIELDS) for row in repeated)
    assert not any(row.after_reveal for row in repeated)


def test_what_a_step_shows_is_its_stages_and_no_more(study: Study) -> None:
    fill(study, queries=1, systems=2)
    anna = give(study, "anna")
    assert anna is not None
    for _ in range(4):
        finish_step(study, anna)
    last = open_next(study, anna).step
    assert last is not None
    with study.read() as connection:
        work = rater_work(connection, study.config, anna)
        shown = [show_page(connection, study.config, p) for p in work.pages if p.opened]
    views = [step for step, _ in shown]
    assert [(v.passages is None, v.reference is None) for v in views] == [
        (True, True), (True, True), (False, True), (False, True), (False, False)
    ]  # fmt: skip
    assert [v.new_fields for v in views[::2]] == [
        ("question", "response"),
        ("context",),
        ("reference",),
    ]
    assert {p.text for p in views[2].passages or ()} == {"passage-0-shared", "passage-0-0"}
    # A page of one response has one column, without a letter, and passages of the page.
    assert [(len(columns), columns[0].letter, columns[0].passages) for _, columns in shown] == [
        (1, None, None)
    ] * 5


def test_asked_twice_a_step_is_opened_once(any_study: Study) -> None:
    fill(any_study, queries=1, systems=1)
    anna = give(any_study, "anna")
    assert anna is not None
    first, second = open_next(any_study, anna).step, open_next(any_study, anna).step
    assert first is not None
    assert second is not None
    assert first.item.public_id == second.item.public_id
    with any_study.read() as connection:
        (reveal,) = connection.execute(select(reveals)).all()
    assert (reveal.stage, reveal.fields) == (1, ["question", "response"])


def test_an_unfolded_passage_is_recorded_once_and_only_where_passages_are_shown(
    study: Study,
) -> None:
    fill(study, queries=1, systems=1)
    anna, ben = give(study, "anna"), give(study, "ben")
    assert anna is not None
    assert ben is not None
    first = finish_step(study, anna)
    with pytest.raises(InvalidError, match="no passage 0"):
        record_opened(study, anna, first.item.public_id, 1, 0)
    second = open_next(study, anna).step
    assert second is not None
    for _ in range(2):
        record_opened(study, anna, second.item.public_id, 2, 1)
    with pytest.raises(InvalidError, match="no passage 2"):
        record_opened(study, anna, second.item.public_id, 2, 2)
    with pytest.raises(NotYoursError):
        record_opened(study, ben, second.item.public_id, 2, 1)
    with study.read() as connection:
        (opened,) = connection.execute(select(opened_passages)).all()
        work = rater_work(connection, study.config, anna)
        opened_step = work.find(second.item.public_id, 2)
        assert opened_step is not None
        view, _ = show_page(connection, study.config, work.page_of(opened_step))
    assert opened.position == 1
    assert [p.opened for p in view.passages or ()] == [False, True]


def test_a_passage_of_an_earlier_response_is_named_and_stays_opened(study: Study) -> None:
    fill(study, queries=1, systems=2)
    anna = give(study, "anna")
    assert anna is not None
    first = [finish_step(study, anna) for _ in range(3)][-1]
    record_opened(study, anna, first.item.public_id, 2, 0)
    second = open_next(study, anna).step
    assert second is not None
    with study.read() as connection:
        work = rater_work(connection, study.config, anna)
        step = work.find(second.item.public_id, 2)
        assert step is not None
        page = work.page_of(step)
        earlier = work.earlier_in_stage(page)
        view, _ = show_page(connection, study.config, page, earlier)
    assert [(step.item.public_id, step.stage.number) for step in earlier] == [
        (first.item.public_id, 2)
    ]
    assert [(p.as_with, p.opened) for p in view.passages or ()] == [(1, True), (None, False)]


@pytest.mark.parametrize(
    ("attribute", "shown"), [("de", "de"), ('"><script>', "en"), (7, "en"), (None, "en")]
)
def test_a_querys_language_takes_precedence_over_the_studys(
    study: Study, attribute: object, shown: str
) -> None:
    from study.importing.import_store import import_rows
    from study.importing.rows import LocatedRow, ResponseRow

    row = ResponseRow(
        query_id="q", query="?", system="s", response="r", attributes={"language": attribute}
    )
    import_rows(study, [LocatedRow(1, row)], source="t", sha256="0" * 64, importer="responses")
    anna = give(study, "anna", keys=["QR"])
    assert anna is not None
    step = open_next(study, anna).step
    assert step is not None
    with study.read() as connection:
        work = rater_work(connection, study.config, anna)
        found_step = work.find(step.item.public_id, 1)
        assert found_step is not None
        view, _ = show_page(connection, study.config, work.page_of(found_step))
    assert view.language == shown
