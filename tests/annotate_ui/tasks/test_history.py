"""What a rater has done, as they may look at it."""

from annotate_ui.tasks.comparisons import ComparisonPayload
from annotate_ui.tasks.history import History, HistoryComparison, HistoryStep, history
from annotate_ui.tasks.save import save
from annotate_ui.tasks.workflow import open_next
from study import Study
from tests.annotate_ui.compared_campaign import choice, open_one, pair_up
from tests.annotate_ui.designed_campaign import configure
from tests.annotate_ui.rated_campaign import fill, finish_step, give, rate


def shown(study: Study, rater: int, page: int = 1, size: int = 50) -> History:
    with study.read() as connection:
        return history(connection, study.config, rater, page, size)


def places(history: History) -> list[tuple[int, int, int]]:
    rated = [step for step in history.done if isinstance(step, HistoryStep)]
    return [(step.query_number, step.response_number, step.part) for step in rated]


def test_the_newest_comes_first_and_others_see_nothing(any_study: Study) -> None:
    fill(any_study, queries=1)
    anna, ben = give(any_study, "anna"), give(any_study, "ben")
    assert anna is not None
    assert ben is not None
    first = finish_step(any_study, anna, 10)
    finish_step(any_study, anna, 20)
    assert places(shown(any_study, anna)) == [(1, 2, 1), (1, 1, 1)]
    assert places(shown(any_study, ben)) == []
    rate(any_study, anna, first, "QR", 11, base=1)
    newest = shown(any_study, anna).done[0]
    assert isinstance(newest, HistoryStep)
    assert (newest.response_number, newest.answers[0].value, newest.answers[0].revision) == (
        1,
        11,
        2,
    )
    assert newest.public_id == first.item.public_id


def test_the_history_is_shown_in_pages(any_study: Study) -> None:
    fill(any_study, queries=1)
    anna = give(any_study, "anna")
    assert anna is not None
    for _ in range(3):
        finish_step(any_study, anna)
    pages = [shown(any_study, anna, page, size=2) for page in (1, 2, 9)]
    assert [(len(history.done), history.page) for history in pages] == [(2, 1), (1, 2), (1, 2)]
    assert {history.pages for history in pages} == {2}


def test_first_values_are_left_out_while_they_are_given_again(any_study: Study) -> None:
    fill(any_study, queries=1, systems=1)
    configure(any_study, design={"repeat_after_hours": 0}, rating={"break_minutes": 1e-6})
    anna = give(any_study, "anna", keys=("QR",))
    assert anna is not None
    finish_step(any_study, anna, 10)
    give(any_study, "anna", keys=("QR",), repeat=1)
    assert places(shown(any_study, anna)) == [(1, 1, 1)]
    step = open_next(any_study, anna).step
    assert step is not None
    during = shown(any_study, anna)
    assert (places(during), during.left_out) == ([], True)
    rate(any_study, anna, step, "QR", 20)
    after = shown(any_study, anna)
    values = [step.answers[0].value for step in after.done if isinstance(step, HistoryStep)]
    assert (values, after.left_out) == ([20, 10], False)


def test_decisions_are_listed_among_the_values_and_hidden_with_them(any_study: Study) -> None:
    fill(any_study, queries=1)
    configure(any_study, design={"repeat_after_hours": 0}, rating={"break_minutes": 1e-6})
    anna = give(any_study, "anna", keys=("QR",))
    assert anna is not None
    step = finish_step(any_study, anna, 10)
    pair_up(any_study, "anna", ["QR"])
    save(any_study, anna, ComparisonPayload(open_one(any_study, anna), choice("QR", 2.0)))
    rate(any_study, anna, step, "QR", 11, base=1)
    history = shown(any_study, anna)
    assert [isinstance(entry, HistoryComparison) for entry in history.done] == [False, True]
    compared = history.done[1]
    assert isinstance(compared, HistoryComparison)
    assert (compared.number, compared.total, compared.revision) == (1, 1, 1)
    assert compared.option is not None
    assert (compared.option.better, compared.option.strength) == (2, 2)
    finish_step(any_study, anna, 12)
    give(any_study, "anna", keys=("QR",), repeat=1)
    assert open_next(any_study, anna).step is not None
    during = shown(any_study, anna)
    assert (during.done, during.left_out) == ((), True)
