"""Keys in what a server sends."""

import json
from base64 import b64encode, urlsafe_b64encode
from html import escape
from urllib.parse import quote

import pytest
from hypothesis import given, strategies as st

from judge.engines.openai.redaction import Redaction
from judge.protocol.chat_completion import Trouble
from judge.protocol.exchange import Answer

KEY = 'sk-Test/01+23=45_6&7"8'


def redaction(*keys: str) -> Redaction:
    made = Redaction()
    for key in keys or (KEY,):
        made.add(key)
    return made


def each(form: str, text: str = KEY) -> str:
    return "".join(form.format(ord(character)) for character in text)


FORMS = {
    "as it is": KEY,
    "URL": quote(KEY, safe=""),
    "URL, all of it": each("%{:02X}"),
    "URL, small letters, twice": quote(each("%{:02x}"), safe=""),
    "JSON": json.dumps(KEY)[1:-1],
    "JSON with \\/": json.dumps(KEY)[1:-1].replace("/", "\\/"),
    "JSON, all of it": each("\\u{:04x}"),
    "JSON in JSON": json.dumps(each("\\u{:04x}"))[1:-1],
    "Python": each("\\x{:02x}"),
    "HTML": escape(KEY),
    "HTML, decimal": each("&#{:d};"),
    "HTML, hexadecimal": each("&#x{:X};"),
    "HTML, names": KEY.replace("&", "&amp;").replace("/", "&sol;").replace("=", "&equals;"),
    "half and half": KEY[:9] + each("%{:02X}", KEY[9:]),
    "base64": b64encode(KEY.encode()).decode().rstrip("="),
    "base64 for URLs": urlsafe_b64encode(KEY.encode()).decode().rstrip("="),
    "hexadecimal": KEY.encode().hex(),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_key_is_removed_in_every_form(form: str) -> None:
    for text in (FORMS[form], f"The key {FORMS[form]} is 100% wrong &c. \\n"):
        clean = redaction().text(text)
        assert "[key]" in clean
        assert not any(part in clean for part in (FORMS[form], KEY))
        # At most the ends of an encoding remain, which hold bits of other characters too.
        assert len(clean) <= len(text.replace(FORMS[form], "[key]")) + 4
        body = json.dumps({"error": {"message": text}}).encode()
        assert KEY not in redaction().body(body).decode()
        assert FORMS[form] not in str(json.loads(redaction().body(body)))


@pytest.mark.parametrize("before", ["", "B", "Bearer ", "user:"])
@pytest.mark.parametrize("after", ["", "\n", "@host"])
def test_a_key_is_removed_from_a_longer_text_in_base64(before: str, after: str) -> None:
    encoded = b64encode(f"{before}{KEY}{after}".encode()).decode()
    clean = redaction().text(f"Authorization: Basic {encoded}.")
    kept = clean.replace("Authorization: Basic ", "").replace("[key]", "")
    assert len(kept) <= len(encoded) - len(KEY)


def test_the_beginning_of_a_key_at_a_cut_is_removed() -> None:
    assert redaction().text(f"You sent {KEY[:8]}") == "You sent [key]"


@pytest.mark.parametrize("piece", [KEY[:12], KEY[:14], KEY[4:15], KEY[-12:], quote(KEY)[:20]])
@pytest.mark.parametrize("after", [".", "***", "... is wrong"])
def test_a_part_of_a_key_is_removed_wherever_it_stands(piece: str, after: str) -> None:
    assert redaction().text(f"You sent {piece}{after}") == f"You sent [key]{after}"


@given(st.integers(0, len(KEY) - 10), st.integers(10, len(KEY)), st.text(max_size=30))
def test_each_part_of_ten_characters_is_removed(start: int, length: int, around: str) -> None:
    piece = KEY[start : start + length]
    assert piece not in redaction().text(f"{around}{piece}{around}") or len(piece) < 10


def test_a_key_that_was_never_sent_is_removed_from_errors_by_its_form() -> None:
    words = "Incorrect API key provided: sk-proj-Ab12*********9xYz."
    trouble = redaction().result(Trouble("stop", "http_401", words))
    assert isinstance(trouble, Trouble)
    assert trouble.detail == "Incorrect API key provided: [key]."
    # What a judge answers is kept.
    answer = redaction().result(Answer("sk-proj-Ab12Cd34Ef56Gh78"))
    assert isinstance(answer, Answer)
    assert answer.text == "sk-proj-Ab12Cd34Ef56Gh78"


def test_words_that_a_key_contains_are_kept() -> None:
    made = redaction("local-development-key")
    assert made.text("The development is local.") == "The development is local."


def test_what_contains_no_key_is_unchanged() -> None:
    text = "Score: 85%41 &amp; \\u0041 \\\\/ &#65; &nbsp; sk-Test %zz \\"
    assert redaction().text(text) == text
    assert redaction().body(bytes(range(256))) == bytes(range(256))


def test_a_placeholder_is_no_secret() -> None:
    assert redaction("85", "EMPTY", "").text("85 EMPTY") == "85 EMPTY"


def test_every_key_that_was_read_is_removed() -> None:
    assert redaction("first-0123", "second-0123").text("first-0123 second-0123") == "[key] [key]"


def test_all_texts_of_a_result_are_cleaned() -> None:
    answer = Answer(f"I got {KEY}", served_model=quote(KEY), fingerprint=KEY, prompt_tokens=3)
    clean = redaction().result(answer)
    assert isinstance(clean, Answer)
    assert (clean.text, clean.served_model, clean.fingerprint) == ("I got [key]", "[key]", "[key]")
    assert clean.prompt_tokens == 3
    trouble = Trouble("stop", "redirect", f"it redirects to http://x/?key={quote(KEY, safe='')}")
    moved = redaction().result(trouble)
    assert isinstance(moved, Trouble)
    assert moved.detail == "it redirects to http://x/?key=[key]"


ESCAPES = ["{0}", "\\u{1:04x}", "%{1:02x}", "\\x{1:02X}", "&#{1:d};", "&#x{1:x}"]


@given(
    st.text(max_size=40),
    st.text(max_size=40),
    st.lists(st.sampled_from(ESCAPES), min_size=len(KEY), max_size=len(KEY)),
)
def test_each_character_may_be_escaped_in_another_way(
    before: str, after: str, escapes: list[str]
) -> None:
    pairs = zip(escapes, KEY, strict=True)
    mixed = "".join(form.format(character, ord(character)) for form, character in pairs)
    clean = redaction().text(f"{before} {mixed} {after}")
    assert "[key]" in clean
    assert mixed not in clean
