"""An id leads to the response that the index of the whole study finds."""

import pytest

from study import Study, StudyError
from study.facts.find_response import find_response
from study.importing.existing_content import ExistingContent
from study.importing.import_store import import_rows
from study.importing.rows import LocatedRow, ResponseRow


def test_find_response_finds_what_the_index_of_the_study_finds(any_study: Study) -> None:
    for system, key, text in (
        ("A", "r", "At 8."),
        ("B", "other", "At 8."),
        ("C", "only", "At 7."),
        ("A", "r", "At 9."),
        (None, "alone", "At 1."),
        (None, "alone", "At 2."),
    ):
        row = ResponseRow(
            query_id="q", query="When?", system=system, response=text, response_id=key
        )
        import_rows(any_study, [LocatedRow(1, row)], source="s", sha256=f"{system} {text}",
                    importer="responses", revise=True)  # fmt: skip
    with any_study.read() as connection:
        index = ExistingContent(connection)
        names = ["r", "r@1", "r@2", "other", "only", "only@1", "alone", "alone@1", "alone@2"]
        for name in names:
            response = index.find(name)
            assert response is not None, name
            found = find_response(connection, name)
            assert (found.id, found.response_id) == (response, index.id_of(response)), name
            systems = sorted(s for (_, s), (of, _) in index.outputs.items() if of == response)
            assert (found.systems, found.in_use) == (systems, index.in_use(response)), name
            assert found.query_id == "q"
        for name, hint in (("r@3", ""), ("onyl", "Did you mean 'only'"), ("x", "such as 'r'")):
            with pytest.raises(StudyError, match=f"no response '{name}'.*{hint}"):
                find_response(connection, name)
