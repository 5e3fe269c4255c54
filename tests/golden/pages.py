"""The pages of raters and of the owner, as a browser without scripts gets them."""

import json
import re
from html import unescape
from pathlib import Path
from typing import Any
from uuid import UUID

from flask.testing import FlaskClient

from tests.golden import normal
from tests.golden.product import ccrs, make_app
from tests.golden.studies import PASSWORD, make_pages_study

_NOISE = (
    (r'(name="csrf_token" value=")[^"]+', r"\1CSRF"),
    (r'(name="csrf-token" content=")[^"]+', r"\1CSRF"),
    (r"/static/[0-9a-f]{12}", "/static/VERSION"),
    (r"\b\d+(\.\d+)? ?(s|seconds?|minutes?|milliseconds)\b", "SECONDS"),
    (r"\b\d\d:\d\d(:\d\d)?\b", "CLOCK"),
    (r'nonce="[^"]+"|nonce-[\w+/=-]+', "NONCE"),
)


class Visitor:
    """A browser that writes down every page it gets."""

    def __init__(self, client: FlaskClient, work: Path, out: Path) -> None:
        self.client, self.work, self.out = client, work, out
        self.csrf = self.rater = ""
        self.page = ""
        self.at = ""
        self.count = 0

    def get(self, address: str, name: str = "") -> None:
        """Open a page."""
        self._keep(f"GET {address}", self.client.get(address, follow_redirects=True), name)

    def submit(self, address: str, name: str = "", **fields: str) -> None:
        """Send a form."""
        data = {"csrf_token": self.csrf, **self._hidden(address), **fields}
        answer = self.client.post(address, data=data, follow_redirects=True)
        self._keep(f"POST {address}", answer, name)

    def send(self, address: str, body: dict[str, Any], name: str = "") -> None:
        """Send JSON as the page's script does."""
        headers = {"X-CSRFToken": self.csrf, "X-Rater": self.rater}
        answer = self.client.post(address, json=body, headers=headers)
        self._keep(f"POST {address} {json.dumps(body, sort_keys=True)}", answer, name)

    def _keep(self, asked: str, answer: Any, name: str) -> None:
        shown = answer.get_data(as_text=True)
        self.count += 1
        if "html" in answer.content_type:
            self.page, self.at = shown, answer.request.path
            for pattern in (
                r'name="csrf_token" value="([^"]+)"',
                r'name="csrf-token" content="([^"]+)"',
            ):
                if match := re.search(pattern, shown):
                    self.csrf = match[1]
            if match := re.search(r'data-rater="([0-9a-f]+)"', shown):
                self.rater = match[1]
        elif "json" in answer.content_type:
            shown = normal.pretty(json.loads(shown))
        ending = "html" if "html" in answer.content_type else "txt"
        headers = "\n".join(
            f"{k}: {v}"
            for k, v in sorted(answer.headers.items())
            if k not in ("Content-Length", "Date", "Set-Cookie") and not k.startswith("X-RateLimit")
        )
        text = f"{asked}\n{answer.status} at {answer.request.path}\n{headers}\n\n{shown}"
        self.out.mkdir(parents=True, exist_ok=True)
        path = self.out / f"{self.count:03}{'-' if name else ''}{name}.{ending}"
        path.write_text(normal.text(text, self.work, *_NOISE), encoding="utf-8")

    def _hidden(self, address: str) -> dict[str, str]:
        """Return the hidden fields of the page's form with this address."""
        for form in re.findall(r"<form .*?</form>", self.page, re.S):
            if f'action="{address}"' in form:
                tags = re.findall(r'<input type="hidden"[^>]*>', form)
                of = [dict(re.findall(r'([a-z-]+)="([^"]*)"', tag)) for tag in tags]
                return {each["name"]: unescape(each.get("value", "")) for each in of}
        return {}

    def sections(self) -> list[tuple[str, str, int]]:
        """Return address, construct and revision of everything that the page asks."""
        found = []
        for tag in re.findall(r"<section [^>]*data-save-url[^>]*>", self.page, re.S):
            of = {k: unescape(v) for k, v in re.findall(r'([a-z-]+)="([^"]*)"', tag)}
            found.append((of["data-save-url"], of["data-key"], int(of.get("data-revision", "0"))))
        return found


def record(work: Path, out: Path) -> None:
    """Record the pages of a campaign with all its parts, and of one side by side in German."""
    links = make_pages_study(work, "pages", out)
    app, study = make_app(work / "pages")
    try:
        for rater in ("anna", "ben"):
            visitor = Visitor(app.test_client(), work, out / rater)
            _rate_all(visitor, links[rater], low=rater == "ben", first=rater == "anna")
        _enrol(Visitor(app.test_client(), work, out / "enrolled"), links["panel"])
        said = ccrs("adjudicate", "pages", "--rater", "dora", "--widest", "1", cwd=work)
        said += ccrs("invite", "pages", "dora", "--out", "dora.csv", cwd=work)
        (out / "adjudicate.txt").write_text(normal.text(said, work), encoding="utf-8")
        link = (work / "dora.csv").read_text().splitlines()[1].rpartition(",")[2]
        _rate_all(Visitor(app.test_client(), work, out / "dora"), link, low=False, first=False)
        _owner(Visitor(app.test_client(), work, out / "owner"))
        cara = Visitor(app.test_client(), work, out / "cara")
        _join(cara, links["cara"])
        cara.submit("/consent", "declined", answer="decline")
        cara.get("/withdraw", "withdraw")
        cara.submit("/withdraw", "withdrawn", confirmed="yes")
    finally:
        study.close()
    for words in (["status", "pages"], ["status", "pages", "--json"], ["watch", "pages"]):
        _say(work, out, *words)
    for more in ("--items", "--agreement", "--stopping"):
        _say(work, out, "watch", "pages", more)
    _say(work, out, "invite", "pages", "--list")
    _say(work, out, "enrol", "pages", "--list")
    _export(work, out)

    links = make_pages_study(work, "wide", out)
    app, study = make_app(work / "wide")
    try:
        _rate_all(
            Visitor(app.test_client(), work, out / "wide"), links["anna"], low=False, first=True
        )
    finally:
        study.close()


def _say(work: Path, out: Path, *words: str) -> None:
    said = normal.text(ccrs(*words, cwd=work), work, *_NOISE)
    name = "-".join(word.strip("-") for word in words)
    (out / f"{name}.txt").write_text(said, encoding="utf-8")


def _export(work: Path, out: Path) -> None:
    _say(work, out, "export", "pages", "--out", "exported")
    _say(work, out, "export", "pages", "--rater", "anna", "--out", "anna.json")
    (out / "export").mkdir(exist_ok=True)
    for path in [*sorted((work / "exported").iterdir()), work / "anna.json"]:
        shown = normal.text(path.read_text(encoding="utf-8"), work, *_NOISE)
        (out / "export" / path.name).write_text(shown, encoding="utf-8")


def _join(visitor: Visitor, link: str) -> None:
    visitor.get("/", "landing")
    visitor.get("/join", "join")
    visitor.submit("/join", "joined", token=link.partition("#")[2])


def _rate_all(visitor: Visitor, link: str, *, low: bool, first: bool) -> None:
    _join(visitor, link)
    if "/consent" in visitor.at:
        visitor.submit("/consent", "consent", answer="agree")
    visitor.get("/instructions", "instructions")
    visitor.submit("/instructions", "instructions-read")
    visitor.get("/rate", "desk")
    for number in range(80):
        visitor.submit("/rate/next", "next")
        found = visitor.sections()
        page = visitor.at
        if not found and "feedback" not in page:
            break
        for place, (url, key, revision) in enumerate(found):
            _save(visitor, url, key, revision, 10 if low else 70, number, place)
        if first and number in (3, 9) and found:
            url, key, _ = found[0]
            _save(visitor, url, key, 1, 30, number, 50)
            _save(visitor, url, key, 0, 35, number, 51)
            visitor.get(page, "again")
        if first and number == 3:
            visitor.get("/rate/history", "history")
    visitor.get("/rate/end", "end")
    visitor.submit("/rate/end", "end-sent", recognized="no")
    visitor.get("/rate/history", "history")
    visitor.get("/withdraw", "withdraw")
    visitor.get("/rate/no-such-page", "problem")
    visitor.submit("/leave", "left")


def _save(
    visitor: Visitor, url: str, key: str, revision: int, value: int, number: int, place: int
) -> None:
    if "/compare/" in url:
        value = (number + place) % 5 - 2
    else:
        value = (value + 7 * number + 3 * place) % 101
    skipped = number == 5 and place == 0 and "/compare/" not in url
    visitor.send(
        url,
        {
            "construct": key,
            "value": None if skipped else value,
            "status": "cannot_judge" if skipped else "rated",
            "reason": None,
            "comment": "A remark." if number == 2 else None,
            "flags": [],
            "input_kind": "button" if "/compare/" in url else "typed",
            "active_seconds": 2.0,
            "base_revision": revision,
            "key": UUID(int=hash((len(visitor.out.name), number, place)) % 2**128).hex,
        },
        f"save-{key}",
    )


def _enrol(visitor: Visitor, link: str) -> None:
    address = "/" + link.split("/", 3)[3]
    visitor.get(f"{address}?PROLIFIC_PID=person-1", "enrol")
    visitor.submit(address, "enrolled")
    visitor.get("/enrol/none-such", "unknown")


def _owner(visitor: Visitor) -> None:
    visitor.get("/owner", "signed-out")
    visitor.submit("/owner/sign-in", "wrong", password="not the password")
    visitor.submit("/owner/sign-in", "signed-in", password=PASSWORD)
    opened: set[str] = set()
    todo = ["/owner"]
    while todo:
        address = todo.pop(0)
        if address in opened:
            continue
        opened.add(address)
        visitor.get(address, re.sub(r"[^a-z0-9]+", "-", re.sub(r"[0-9a-f]{32}", "id", address)))
        for found in re.findall(r'href="(/owner[^"#]*)"', visitor.page):
            found = unescape(found)  # noqa: PLW2901
            if found not in opened and len(opened) < 60 and not found.endswith(".svg"):
                todo.append(found)
    visitor.submit("/owner/pause", "paused", message="Back on Monday.")
    visitor.submit("/owner/resume", "resumed")
    visitor.submit("/owner/adjudication", "adjudication", rater="emil", sample="0", widest="1")
