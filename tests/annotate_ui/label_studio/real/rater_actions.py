"""What raters do over there, through the server's own interface and on its page."""

from collections.abc import Mapping
from typing import Any

from playwright.sync_api import Browser, Page, expect

from annotate_ui.label_studio.projects import StoredProject, stored_projects
from study import Study
from tests.annotate_ui.label_studio.real.process import PASSWORD, LabelStudioServer, Member

# A busy machine takes its time over the page's 10 MB of scripts.
_PATIENCE = 120_000


def projects(study: Study) -> list[StoredProject]:
    """Return the projects that were pushed, the oldest first."""
    with study.read() as connection:
        return stored_projects(connection)


def number(construct: str, value: Any) -> dict[str, Any]:
    """Return the result of a number control."""
    return {
        "id": construct,
        "from_name": construct,
        "to_name": "response",
        "type": "number",
        "value": {"number": value},
    }


def annotate(
    server: LabelStudioServer,
    who: Member,
    task: int,
    values: Mapping[str, Any],
    *,
    lead: float | None = 12.5,
    skip: bool = False,
    extra: list[dict[str, Any]] | None = None,
) -> int:
    """Annotate a task as its page does; return the annotation's number."""
    result = [number(construct, value) for construct, value in values.items()]
    body = {"result": [*result, *(extra or [])], "lead_time": lead, "was_cancelled": skip}
    with server.client(who.token) as client:
        done = client.post(f"/api/tasks/{task}/annotations/", json=body)
        assert done.status_code == 201, done.text
        return int(done.json()["id"])


def edit(
    server: LabelStudioServer, who: Member, annotation: int, values: Mapping[str, Any]
) -> None:
    """Change an annotation."""
    body = {"result": [number(construct, value) for construct, value in values.items()]}
    with server.client(who.token) as client:
        done = client.patch(f"/api/annotations/{annotation}/", json=body)
        assert done.status_code == 200, done.text


def delete(server: LabelStudioServer, who: Member, annotation: int) -> None:
    """Delete an annotation."""
    with server.client(who.token) as client:
        assert client.delete(f"/api/annotations/{annotation}/").status_code == 204


def rate_all(
    server: LabelStudioServer, who: Member, project: StoredProject, value: float
) -> dict[int, int]:
    """Rate every task of a project; return response to annotation."""
    keys = sorted(project.construct_keys)
    return {
        response: annotate(server, who, task, dict.fromkeys(keys, value))
        for response, task in sorted(project.tasks.items())
    }


def signed_in(browser: Browser, label_studio: LabelStudioServer, rater: Member) -> Page:
    """Return a page of a rater who has signed in."""
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    context.set_default_timeout(_PATIENCE)
    expect.set_options(timeout=_PATIENCE)
    page = context.new_page()
    page.goto(f"{label_studio.url}/user/login/")
    page.fill("input[name=email]", rater.email)
    page.fill("input[name=password]", PASSWORD)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(lambda url: "login" not in url, wait_until="commit")
    return page


def submit(page: Page) -> None:
    """Submit the annotation of a page and wait until it is stored."""
    with page.expect_response(lambda r: "/annotations" in r.url and r.request.method == "POST"):
        page.get_by_role("button", name="Submit current annotation").click()
