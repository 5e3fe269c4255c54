"""The pages of raters and of the owner, as a browser without scripts gets them."""

import json
import re
from html import unescape
from pathlib import Path
from typing import Any
from uuid import UUID

from flask.testing import FlaskClient

from tests.golden import normal
from tests.golden.product import ccrs, make_app, seed_random_ids
from tests.golden.studies import PASSWORD, make_pages_study

_NOISE = (
    (r'(name="csrf_token" value=")[^"]+', r"\1CSRF"),
    (r'(name="csrf-token" content=")[^"]+', r"\1CSRF"),
    (r"/join#[\w-]{43}", "/join#TOKEN"),
    (r"/static/[0-9a-f]{12}", "/static/VERSION"),
    (r"\b\d+(\.\d+)? ?(s|seconds?|minutes?|milliseconds)\b", "SECONDS"),
    (r"(\b\d\d-\d\d )?\b\d\d:\d\d(:\d\d)?\b", "CLOCK"),
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
            if k not in ("Content-Length", "Date", "Set-Cookie")
            and not k.startswith(("X-RateLimit", "Retry-After"))
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

    def sections(self) -> list[dict[str, str]]:
        """Return the attributes of everything that the page asks."""
        tags = re.findall(r"<section [^>]*data-save-url[^>]*>", self.page, re.S)
        return [
            {k: unescape(v) for k, v in re.findall(r'data-([a-z-]+)="([^"]*)"', tag)}
            for tag in tags
        ]


def record(work: Path, out: Path) -> None:
    """Record the pages of a campaign with all its parts, and of one side by side in German."""
    links = make_pages_study(work, "pages", out)
    seed_random_ids("pages")
    app, study = make_app(work / "pages")
    try:
        for rater in ("anna", "ben"):
            visitor = Visitor(app.test_client(), work, out / rater)
            _rate_all(visitor, links[rater], low=False, first=rater == "anna")
        _enrol(Visitor(app.test_client(), work, out / "enrolled"), links["panel"])
        said = ccrs("adjudicate", "pages", "--rater", "dora", "--widest", "1", cwd=work)
        said += ccrs("invite", "pages", "dora", "--out", "dora.csv", cwd=work)
        (out / "adjudicate.txt").write_text(normal.text(said, work), encoding="utf-8")
        link = normal.taken(work / "dora.csv").splitlines()[-1].rpartition(",")[2]
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
    for path in [*sorted((work / "exported").glob("*")), work / "anna.json"]:
        shown = normal.text(normal.taken(path), work, *_NOISE)
        (out / "export" / path.name).write_text(shown, encoding="utf-8")


def _join(visitor: Visitor, link: str) -> None:
    visitor.get("/", "landing")
    visitor.get("/join", "join")
    visitor.submit("/join", "joined", token=link.partition("#")[2])


def _rate_all(visitor: Visitor, link: str, *, low: bool, first: bool) -> None:
    if link:
        _join(visitor, link)
    else:
        visitor.get("/rate", "consent")
    if "/consent" in visitor.at:
        visitor.submit("/consent", "consent", answer="agree")
    visitor.get("/instructions", "instructions")
    visitor.submit("/instructions", "instructions-read")
    visitor.get("/rate", "desk")
    for number in range(40):
        visitor.submit("/rate/next", "next")
        found = visitor.sections()
        page = visitor.at
        if not found and "feedback" not in page:
            break
        for place, of in enumerate(found):
            _save(visitor, of, 0.1 if low else 0.7, number, place)
        if first and number in (8, 12) and found:
            of = found[0]
            _save(visitor, {**of, "revision": "1"}, 0.3, number, 50)
            _save(visitor, of, 0.4, number, 51)
            visitor.get(page, "again")
        if first and number == 8:
            visitor.get("/rate/history", "history")
    visitor.get("/rate/end", "end")
    visitor.submit("/rate/end", "end-sent", recognized="no")
    visitor.get("/rate/history", "history")
    visitor.get("/withdraw", "withdraw")
    visitor.get("/rate/no-such-page", "problem")
    visitor.submit("/leave", "left")


def _save(visitor: Visitor, of: dict[str, str], share: float, number: int, place: int) -> None:
    """Save a value of what the page asks, some share of the way along its scale."""
    compared = "/compare/" in of["save-url"]
    low, high = (-2.0, 2.0) if compared else (float(of["min"]), float(of["max"]))
    step = 1.0 if compared else float(of.get("step") or 1)
    if "Practice" in visitor.page:
        share = 0.1 if share < 0.5 else 0.9
    else:
        share = (share + 0.07 * number + 0.13 * place) % 1
    cannot = number == 7 and place == 0 and not compared
    body = {
        "construct": of["key"],
        "value": None if cannot else low + step * round(share * (high - low) / step),
        "status": "cannot_judge" if cannot else "rated",
        "input_kind": "button" if compared else "typed",
        "base_revision": int(of["revision"]),
        "key": UUID(int=len(visitor.out.name) * 10**6 + number * 1000 + place).hex,
    }
    if not compared:
        body |= {
            "comment": "A remark." if number == 2 else None,
            "flags": [],
            "active_seconds": 2.0,
        }
    visitor.send(of["save-url"], body, f"save-{of['key']}")


def _enrol(visitor: Visitor, link: str) -> None:
    address = "/" + link.split("/", 3)[3]
    visitor.get(f"{address}?PROLIFIC_PID=person-1", "enrol")
    visitor.submit(address, "enrolled")
    visitor.get("/enrol/none-such", "unknown")
    _rate_all(visitor, "", low=True, first=False)


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
