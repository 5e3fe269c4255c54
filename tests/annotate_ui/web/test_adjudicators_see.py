"""A judge's reason on the page after the blind value, where study.toml asks for it."""

from annotate_ui.participants.invitation import invite
from annotate_ui.web.app import create_app
from annotate_ui.web.rate_limits import limiter
from study import Study
from tests.annotate_ui.designed_campaign import assign_one, new_rater
from tests.annotate_ui.rated_campaign import fill, give
from tests.annotate_ui.tasks.test_adjudicators_see import judged
from tests.annotate_ui.web.conftest import Browser


def test_the_judge_is_shown_as_text_only_after_the_blind_value(
    study: Study,
) -> None:
    fill(study, queries=1, systems=1)
    response = judged(study)
    toml = study.folder / "study.toml"
    toml.write_text(toml.read_text("utf-8") + '\n[rating]\nadjudicators_see = "the-judge"\n')
    study = Study.open(study.folder)
    anna = new_rater(study, "anna")
    assign_one(study, anna, response, purpose="adjudication", construct_keys=["QR"])
    give(study, "ben", keys=["QR"])
    links = {made.rater: made.link for made in invite(study)}
    app = create_app(study, b"k" * 32)
    browsers = {code: Browser(app.test_client()) for code in links}
    try:
        for code, browser in browsers.items():
            assert browser.begin(links[code]).status_code == 200
        other = browsers["ben"]
        other.go_on()
        other.save("QR", 30)
        other.go_on()
        assert not any(b"alert(1)" in body or b"the-judge" in body for body in other.received)
        browser = browsers["anna"]
        browser.go_on()
        assert not any(b"alert(1)" in body or b">97<" in body for body in browser.received)
        browser.save("QR", 80)
        page = browser.go_on().get_data(as_text=True)
    finally:
        limiter.reset()
        study.close()
    assert "<b>97</b>" in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt; \\u202eesrever" in page
    assert "<script>alert" not in page
    assert "\u202e" not in page
    assert "do not follow it" in page
