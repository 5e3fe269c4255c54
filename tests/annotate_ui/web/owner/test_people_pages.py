"""The owner's pages of people and comments."""

from flask import Flask

from annotate_ui.participants.enrolment import enrol
from annotate_ui.participants.enrolment_links import make_link
from annotate_ui.tasks.rating_payload import RatingPayload
from annotate_ui.tasks.save import save
from annotate_ui.tasks.workflow import open_next
from study import Study
from tests.annotate_ui.rated_campaign import commit, fill, give
from tests.annotate_ui.web.conftest import Browser


def test_people_and_their_comments_are_on_one_page_each(
    owner: Browser, protected: Study, app: Flask
) -> None:
    fill(protected)
    give(protected, None)
    _, address = make_link(protected, "spring", 2)
    joined = enrol(protected, address.rpartition("/")[2], "worker <7>").rater_id
    step = open_next(protected, joined).step
    assert step is not None
    assert "no comments and no remarks" in owner.get("/owner/comments").text
    entered = commit(step.construct_keys[0], 40.0, comment="odd <b>passage</b>")
    save(protected, joined, RatingPayload(step.item.public_id, step.stage.number, entered))
    app.extensions.pop("owner_snapshot", None)  # it may be half a minute old
    people = owner.get("/owner/people").text
    assert "worker &lt;7&gt;" in people
    assert "spring" in people
    said = owner.get("/owner/comments").text
    assert "odd &lt;b&gt;passage&lt;/b&gt;" in said
    assert f"/owner/items/{step.item.response_id}" in said
    public_id = owner.get("/owner/raters").text.split("/owner/raters/")[-1].split('"')[0]
    assert "worker &lt;7&gt;" in owner.get(f"/owner/raters/{public_id}").text
