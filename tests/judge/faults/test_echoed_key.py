"""An endpoint that repeats the key that it was sent, in any form and place."""

import json
import threading
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote

import pytest

from judge import OpenAISettings, export_run, judge_study
from judge.running.runner import RunStoppedError
from study import Study
from study.errors import StudyError
from tests.judge.faults.faulty_run import SHORT_WAITS, judgments

KEY = "sk-echo/0123456789+Abc="
FORMS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "url": lambda text: quote(text, safe=""),
    "json": lambda text: "".join(f"\\u{ord(character):04x}" for character in text),
    "html": lambda text: "".join(f"&#{ord(character)};" for character in text),
    "base64": lambda text: b64encode(text.encode()).decode(),
}


def completion(content: str, model: str = "m") -> bytes:
    message = {"role": "assistant", "content": content}
    return json.dumps({"choices": [{"message": message}], "model": model}).encode()


@contextmanager
def echoing(reply: Callable[[str], tuple[int, dict[str, str], bytes]]) -> Iterator[str]:
    """Serve replies made from the header with the key to all prompts but plain questions."""

    class Echo(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            sent = self.rfile.read(int(self.headers["Content-Length"]))
            status, headers, body = 200, {}, completion("7")
            if b"Evaluate the" in sent:
                status, headers, body = reply(self.headers["Authorization"])
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Echo) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()
        thread.join()


def assert_nowhere(study: Study, *texts: str) -> None:
    """Assert that no file of the study, and none of some texts, has the key in any form."""
    files = [path for path in study.folder.rglob("*") if path.is_file()]
    contents = [*(path.read_bytes() for path in files), *(text.encode() for text in texts)]
    for form in FORMS.values():
        for content in contents:
            # The beginning is enough: an encoding may share its last character with what follows.
            assert form(KEY)[:20].encode() not in content


@pytest.mark.parametrize("form", FORMS)
def test_a_key_in_an_answer_is_not_stored(
    small_study: Study, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, form: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)

    def reply(header: str) -> tuple[int, dict[str, str], bytes]:
        return 200, {}, completion(f"I was sent {FORMS[form](header)}", FORMS[form](KEY))

    with echoing(reply) as address:
        settings = OpenAISettings(base_url=address, limit=3, name="j", **SHORT_WAITS)
        outcome = judge_study(small_study, settings)
    assert outcome.judged == 3
    answers = {row["raw_answer"] for row in judgments(small_study)}
    assert len(answers) == 1
    assert "[key]" in answers.pop()
    export_run(small_study, "j", tmp_path / "judgments.csv")
    exported = (tmp_path / "judgments.csv").read_text(encoding="utf-8")
    assert_nowhere(small_study, exported, "\n".join(outcome.lines()), json.dumps(outcome.served))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("status", [400, 401, 302, 500])
def test_a_key_in_an_error_is_neither_stored_nor_shown(
    small_study: Study, monkeypatch: pytest.MonkeyPatch, form: str, status: int
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)

    def reply(header: str) -> tuple[int, dict[str, str], bytes]:
        address = {"Location": f"http://127.0.0.1/login?key={FORMS[form](header)}"}
        page = f"<html>Not with {FORMS[form](header)}</html>"
        return status, address if status == 302 else {}, page.encode()

    with echoing(reply) as address:
        settings = OpenAISettings(
            base_url=address, limit=2, **{**SHORT_WAITS, "tries": 2, "concurrency": 1}
        )
        try:
            shown = "\n".join(judge_study(small_study, settings).lines())
        except RunStoppedError as stopped:
            shown = f"{stopped}\n" + "\n".join(stopped.outcome.lines())
    stored = "".join(str(row["raw_answer"]) for row in judgments(small_study))
    assert "[key]" in stored + shown
    assert_nowhere(small_study, shown, stored)


def test_a_key_in_an_error_before_the_first_prompt_is_not_shown(
    small_study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    for form in FORMS.values():
        with echoing(lambda header, form=form: (401, {}, form(header).encode())) as address:  # type: ignore[misc]
            monkeypatch.setattr(
                "judge.engines.openai.capabilities.QUESTION", "Evaluate the number 7."
            )
            settings = OpenAISettings(base_url=address, **SHORT_WAITS)
            with pytest.raises(StudyError, match=r"\[key\]") as caught:
                judge_study(small_study, settings)
        assert_nowhere(small_study, str(caught.value))
