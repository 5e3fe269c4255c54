"""A generator of hostile requests runs over every route there is, as nobody and as each rater.

Whatever is sent: an answer below 500 with all security headers, no trace of the server's inside,
nothing of another rater, no payload as markup, and no row that the sender may not write.
"""

import json
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from hypothesis import HealthCheck, given, settings, strategies as st
from sqlalchemy import func, select
from werkzeug.routing import Rule

from annotate_ui.participants.invitation import invite
from annotate_ui.web import app as app_module
from annotate_ui.web.app import create_app
from annotate_ui.web.rate_limits import limiter
from study import Study
from study.schema import Noun
from study.schema.tables import assignments, raters, ratings
from tests.annotate_ui.rated_campaign import fill, give
from tests.annotate_ui.web.conftest import Browser
from tests.conftest import examples

pytestmark = pytest.mark.slow

PAYLOADS = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "{{ 7 * 7 }}{% raw %}",
    "${7*7} #{7*7}",
    "javascript:alert(1)",
    "\u202egnp.exe",
    "../../../../etc/passwd",
    "%00\x00%0d%0aSet-Cookie: a=b",
    "' OR 1=1 --",
    "\ud800",
    "9" * 400,
    "NaN",
    "\U0001f9d1\u200d\U0001f52c" * 50,
)
FIELDS = (
    *("construct", "value", "status", "reason", "comment", "flags", "input_kind"),
    *("active_seconds", "wall_seconds", "base_revision", "key", "position"),
)
HEADERS = {*app_module._ALWAYS, "Cache-Control"}
INSIDE = (b"Traceback", b"sqlalchemy", b"psycopg", b'File "/', b"werkzeug.exceptions")

texts = st.sampled_from(PAYLOADS) | st.text(max_size=40)
scalars = st.none() | st.booleans() | st.integers() | st.floats() | texts
bodies = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(FIELDS) | texts,
            inner,
            max_size=8,
        )
    ),
    max_leaves=12,
)
names = st.sampled_from(
    ["token", "csrf_token", "recognized", "comment", "password", "external_id", "PROLIFIC_PID"]
)
forms = st.dictionaries(names | st.text(max_size=10), texts, max_size=6)


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Serve a campaign to two raters who have begun; ben is the victim."""
    study = Study.create(tmp_path_factory.mktemp("hostile") / "study")
    fill(study, queries=2, systems=2)
    give(study, "anna")
    give(study, "ben")
    app = create_app(study, b"k" * 32)
    limiter.enabled = False
    links = {made.rater: made.link for made in invite(study)}
    people: dict[str, Browser] = {}
    for code, link in links.items():
        people[code] = Browser(app.test_client())
        people[code].begin(link)
        people[code].go_on()
    assert people["ben"].save("QR", 40.0).status_code == 200
    yield study, app, people
    limiter.enabled = True
    study.close()


def _path(rule: Rule, public_ids: list[str], data: st.DataObject) -> str:
    path = ""
    for is_dynamic, content in rule._trace:
        if not is_dynamic:
            path += content.lstrip("|")
            continue
        kind = type(rule._converters[content]).__name__
        if kind == "IntegerConverter":
            path += str(data.draw(st.integers(0, 5) | st.integers(0, 10**30)))
        else:
            part = data.draw(st.sampled_from(public_ids) | texts)
            path += part.encode("utf-8", "ignore").decode().replace("/", "%2F").replace("?", "%3F")
    return path or "/"


def _victims(study: Study) -> tuple[list[str], int]:
    with study.read() as connection:
        ben = connection.execute(select(raters.c.id).where(raters.c.code == "ben")).scalar_one()
        ids = (
            connection.execute(select(assignments.c.public_id).where(assignments.c.rater_id == ben))
            .scalars()
            .all()
        )
        rows = connection.execute(
            select(func.count())
            .join_from(ratings, assignments)
            .where(assignments.c.rater_id == ben)
        ).scalar_one()
    return list(ids), int(rows)


def _send(client: FlaskClient, method: str, path: str, data: st.DataObject, csrf: str) -> Any:
    page_headers = {"X-Rater": data.draw(st.sampled_from(["", "0" * 32]) | st.just("anna"))}
    if data.draw(st.booleans()):
        page_headers["X-CSRFToken"] = csrf
    shape = data.draw(st.sampled_from(["none", "json", "form", "bytes"]))
    more: dict[str, Any] = {}
    if shape == "json":
        more["data"] = json.dumps(data.draw(bodies)).encode("utf-8", "surrogatepass")
        more["content_type"] = "application/json"
    elif shape == "form":
        form = data.draw(forms)
        if data.draw(st.booleans()):
            form["csrf_token"] = csrf
        more["data"] = {
            name: text.encode("utf-8", "replace").decode() for name, text in form.items()
        }
    elif shape == "bytes":
        more["data"] = data.draw(st.binary(max_size=60))
        more["content_type"] = data.draw(
            st.sampled_from(["application/json", "multipart/form-data; boundary=x", "text/xml"])
        )
    return client.open(path, method=method, headers=page_headers, **more)


def _check(answer: Any, victims: list[str]) -> None:
    assert answer.status_code < 500, (answer.request.path, answer.data[:500])
    assert set(answer.headers.keys()) >= HEADERS, answer.request.path
    body = answer.data
    for sign in INSIDE:
        assert sign not in body
    for public_id in victims:
        assert public_id.encode() not in body
    # Whatever was sent comes back as text, or not at all.
    for payload in PAYLOADS[:3]:
        assert payload.encode() not in body


def _rules(app: Flask) -> list[tuple[Rule, str]]:
    return [
        (rule, method)
        for rule in app.url_map.iter_rules()
        if not rule.endpoint.startswith("static")
        for method in sorted((rule.methods or set()) | {"GET", "POST", "PUT", "DELETE"})
    ]


@pytest.mark.parametrize("who", ["nobody", "anna"])
def test_no_request_breaks_in_or_breaks_the_server(attacked: Any, who: str) -> None:
    study, app, people = attacked
    victims, rows = _victims(study)
    with study.read() as connection:
        mine = [
            public_id
            for public_id in connection.execute(select(assignments.c.public_id)).scalars()
            if public_id not in victims
        ]
    rules = _rules(app)
    attacked_rules = set()

    @settings(
        max_examples=examples(1500),
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def attack(data: st.DataObject) -> None:
        rule, method = data.draw(st.sampled_from(rules))
        path = _path(rule, [*mine, *victims], data)
        if rule.endpoint == "access.leave" and who != "nobody":
            # Signing out is allowed, and would end the attack.
            return
        attacked_rules.add(rule.rule)
        browser = people.get(who) or Browser(app.test_client())
        answer = _send(browser.client, method, path, data, browser.csrf)
        # An answer may name again what the request itself named.
        _check(answer, [public_id for public_id in victims if public_id not in path])

    attack()
    # All at the depth of CI; the requests are drawn at random.
    assert len(attacked_rules) >= 0.9 * len({rule.rule for rule, _ in rules}), "nearly every route"
    assert _victims(study) == (victims, rows), "nothing of another rater has changed"


def test_nothing_is_written_without_a_session(attacked: Any) -> None:
    study, app, _ = attacked
    before = _counts(study)
    client = app.test_client()
    for rule, method in _rules(app):
        path = rule.rule
        for name in rule.arguments:
            path = path.replace(f"<int:{name}>", "1").replace(f"<{name}>", "0" * 32)
        if "<" not in path:
            client.open(path, method=method, json={})
            client.open(path, method=method, data={"comment": "x"})
    assert _counts(study) == before


def _counts(study: Study) -> dict[str, int]:
    with study.read() as connection:
        return {
            noun.name: connection.execute(select(func.count()).select_from(noun)).scalar_one()
            for noun in Noun.metadata.sorted_tables
        }
