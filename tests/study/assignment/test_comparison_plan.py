"""Which pairs are compared, by whom and in which order: shares, balance, extension."""

from collections import Counter, defaultdict
from itertools import combinations
from pathlib import Path
from typing import Any

from sqlalchemy import select, update

from study import Study
from study.assignment.comparison_plan import comparison_rows, store_comparisons
from study.importing.import_store import import_rows
from study.importing.rows import LocatedRow, PassageRow, ResponseRow
from study.schema import now
from study.schema.tables import comparisons, outputs
from tests.study.rating_fixtures import add_rater


def campaign(folder: Path, share: float, *, seed: int = 1, more: str = "") -> Study:
    settings = f"seed = {seed}\n[design]\ncomparisons = {share}\n{more}"
    folder.mkdir(exist_ok=True)
    if (folder / "study.toml").exists():
        (folder / "study.toml").write_text(settings, encoding="utf-8")
        return Study.open(folder)
    return Study.create(folder, settings)


def fill(study: Study, queries: range, systems: str = "ABC", *, alike: bool = False) -> None:
    rows = [
        ResponseRow(
            query_id=f"q{q}",
            query=f"question {q}",
            system=system,
            # C says what A says.
            response=f"response {q} {'A' if alike and system == 'C' else system}",
            passages=(PassageRow(text=f"passage {q}"),) if system != "X" else (),
            references=("reference",),
        )
        for q in queries
        for system in systems
    ]
    placed = [LocatedRow(number, row) for number, row in enumerate(rows, start=1)]
    import_rows(study, placed, source="t", sha256=repr(queries) + systems, importer="responses")


def plan(study: Study, raters: dict[str, int], per_item: int = 2, **other: Any) -> Any:
    with study.write() as connection:
        rows, planned = comparison_rows(connection, study, raters, per_item=per_item, **other)
        store_comparisons(connection, rows)
    return planned


def stored(study: Study) -> list[Any]:
    with study.read() as connection:
        return list(connection.execute(select(comparisons).order_by(comparisons.c.id)))


def systems_of(study: Study) -> dict[int, str]:
    with study.read() as connection:
        return {row.response_id: row.system for row in connection.execute(select(outputs))}


def test_without_a_share_nothing_is_compared(study: Study) -> None:
    fill(study, range(3))
    planned = plan(study, {"anna": add_rater(study, "anna")})
    assert planned.comparisons == planned.pairs == 0
    assert stored(study) == []


def test_each_pair_of_systems_is_compared_equally_often_by_k_raters(any_study: Study) -> None:
    settings = (any_study.folder / "study.toml").read_text(encoding="utf-8")
    more = '\n[design]\ncomparisons = 0.5\ncomparison_constructs = ["QR", "AC"]\n'
    (any_study.folder / "study.toml").write_text(settings + more)
    study = Study.open(any_study.folder)
    fill(study, range(12))
    raters = {code: add_rater(study, code) for code in ("anna", "ben", "cara", "dan")}
    planned = plan(study, raters)
    assert planned.by_systems == {"A / B": 6, "A / C": 6, "B / C": 6}
    assert planned.connected
    assert (planned.pairs, planned.comparisons, planned.short) == (18, 18 * 2 * 2, 0)
    rows = stored(study)
    assert len(rows) == planned.comparisons
    assert {row.construct_key for row in rows} == {"QR", "AC"}
    assert {row.inclusion_prob for row in rows} == {0.5}
    raters_of = defaultdict(set)
    for row in rows:
        raters_of[row.response_a_id, row.response_b_id, row.construct_key].add(row.rater_id)
    assert all(len(those) == 2 for those in raters_of.values())
    # On every construct the same raters: who has read the two goes on.
    assert len({(a, b): those for (a, b, _), those in raters_of.items()}) == 18
    loads = Counter(row.rater_id for row in rows)
    assert set(loads.values()) == {18}
    names = systems_of(study)
    assert all(names[row.response_a_id] < names[row.response_b_id] for row in rows)
    study.close()


def test_each_response_is_first_for_half_of_a_pairs_raters(tmp_path: Path) -> None:
    study = campaign(tmp_path / "s", 1.0, more='comparison_constructs = ["QR"]\n')
    fill(study, range(8))
    raters = {code: add_rater(study, code) for code in "abcdef"}
    plan(study, raters, per_item=4)
    swaps, by_rater = defaultdict(list), defaultdict(list)
    for row in stored(study):
        swaps[row.response_a_id, row.response_b_id].append(row.swapped)
        by_rater[row.rater_id].append(row.swapped)
    assert all(sum(those) == 2 for those in swaps.values())
    for those in by_rater.values():
        assert abs(sum(those) - len(those) / 2) <= len(those) / 4
    study.close()


def test_raters_meet_every_pair_of_systems_about_equally_often(tmp_path: Path) -> None:
    study = campaign(tmp_path / "s", 1.0, more='comparison_constructs = ["QR"]\n')
    fill(study, range(20), "ABCD")
    raters = {code: add_rater(study, code) for code in "abcde"}
    plan(study, raters, per_item=2)
    names, seen = systems_of(study), Counter()
    for row in stored(study):
        seen[row.rater_id, names[row.response_a_id], names[row.response_b_id]] += 1
    assert len(seen) == 5 * len(list(combinations("ABCD", 2)))
    assert max(seen.values()) - min(seen.values()) <= 3
    study.close()


def test_a_larger_share_and_further_queries_add_without_taking_away(tmp_path: Path) -> None:
    study = campaign(tmp_path / "s", 0.4)
    fill(study, range(10))
    raters = {code: add_rater(study, code) for code in ("anna", "ben", "cara")}
    plan(study, raters)
    before = stored(study)
    study.close()
    study = campaign(tmp_path / "s", 0.8)
    fill(study, range(10, 15))
    planned = plan(study, raters)
    after = stored(study)
    assert after[: len(before)] == before
    assert len(after) == len(before) + planned.comparisons
    # 12 of 15 queries: with what was drawn before, at least that.
    assert all(count >= 12 for count in planned.by_systems.values())
    per = Counter((r.response_a_id, r.response_b_id, r.construct_key) for r in after)
    assert set(per.values()) == {2}
    for rater in raters.values():
        places = [row.position for row in after if row.rater_id == rater]
        assert sorted(places) == list(range(len(places)))
    assert plan(study, raters).comparisons == 0
    study.close()


def test_a_plan_of_comparisons_with_the_same_seed_is_the_same(tmp_path: Path) -> None:
    plans = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        study = campaign(tmp_path / name, 0.5, seed=seed)
        fill(study, range(8))
        plan(study, {code: add_rater(study, code) for code in ("anna", "ben", "cara")})
        plans.append([(r.rater_id, r.response_a_id, r.response_b_id, r.construct_key, r.swapped)
                      for r in stored(study)])  # fmt: skip
        study.close()
    assert plans[0] == plans[1] != plans[2]


def test_a_response_of_two_systems_is_not_compared_with_itself(tmp_path: Path) -> None:
    study = campaign(tmp_path / "s", 1.0, more='comparison_constructs = ["QR"]\n')
    fill(study, range(4), alike=True)
    planned = plan(study, {"anna": add_rater(study, "anna")}, per_item=1)
    # The one comparison of a query speaks of both pairs of systems.
    assert (planned.pairs, planned.by_systems) == (4, {"A / B": 4, "B / C": 4})
    study.close()


def test_what_was_taken_back_is_given_to_somebody_else(tmp_path: Path) -> None:
    study = campaign(tmp_path / "s", 1.0, more='comparison_constructs = ["QR"]\n')
    fill(study, range(2), "AB")
    raters = {code: add_rater(study, code) for code in ("anna", "ben", "cara")}
    plan(study, raters, per_item=1)
    first = stored(study)[0]
    with study.write() as connection:
        connection.execute(
            update(comparisons).where(comparisons.c.id == first.id).values(released_at=now())
        )
    assert plan(study, raters, per_item=1).comparisons == 1
    again = stored(study)[-1]
    assert again.response_a_id == first.response_a_id
    assert again.rater_id != first.rater_id
    study.close()


def test_barred_queries_other_samples_and_missing_fields_are_obeyed(tmp_path: Path) -> None:
    study = campaign(tmp_path / "s", 1.0, more='comparison_constructs = ["QR", "CC"]\n')
    fill(study, range(3), "AB")
    fill(study, range(3, 4), "AX")
    anna, ben = add_rater(study, "anna"), add_rater(study, "ben")
    with study.read() as connection:
        queries = sorted(connection.execute(select(outputs.c.query_id).distinct()).scalars())
    planned = plan(
        study,
        {"anna": anna, "ben": ben},
        drawn=dict.fromkeys(queries[1:], 0.5),
        barred={ben: {queries[1]}},
    )
    rows = stored(study)
    assert {row.query_id for row in rows} == set(queries[1:])
    assert {row.inclusion_prob for row in rows} == {0.5}
    assert {row.query_id for row in rows if row.rater_id == ben} == set(queries[2:])
    assert planned.short == 2
    assert planned.left_out == [
        {"construct": "CC", "reason": "the response has no passages", "pairs": 1}
    ]
    study.close()


def test_no_field_of_a_query_is_shown_before_its_constructs_come(tmp_path: Path) -> None:
    study = campaign(tmp_path / "s", 1.0)
    fill(study, range(3))
    plan(study, {"anna": add_rater(study, "anna")}, per_item=1)
    by_query = defaultdict(list)
    for row in sorted(stored(study), key=lambda row: row.position):
        by_query[row.query_id].append(row.construct_key)
    stage = {"QR": 1, "CC": 2, "ID": 2, "AC": 3, "IR": 3}
    for keys in by_query.values():
        stages = [stage[key] for key in keys]
        assert stages == sorted(stages)
        assert len(keys) == 15
    study.close()
