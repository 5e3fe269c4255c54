"""A snapshot that a separate process computes equals one of this process."""

import pytest

from annotate_ui.monitoring import campaign_progress as module
from annotate_ui.monitoring.background_job import compute_snapshot
from annotate_ui.monitoring.campaign_progress import is_large, snapshot
from study import Study, StudyError
from tests.annotate_ui.rated_campaign import fill, give


@pytest.mark.slow
def test_a_snapshot_of_a_separate_process_equals_one_of_this_process(
    any_study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(any_study)
    give(any_study, "anna")
    assert not is_large(any_study)
    monkeypatch.setattr(module, "_LARGE", -1)
    assert is_large(any_study)
    here, there = snapshot(any_study), compute_snapshot(any_study)
    assert there.progress == here.progress
    assert there.signals == here.signals
    assert there.at >= here.at


def test_a_process_that_fails_is_reported_with_a_remedy(study: Study) -> None:
    study.close()
    (study.folder / "study.db").unlink()
    with pytest.raises(StudyError, match="ccrs watch"):
        compute_snapshot(study)
