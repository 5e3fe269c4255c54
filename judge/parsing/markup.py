"""Removes what has no meaning around a score: white space, think blocks, fences, emphasis.

It is replaced by a space and never just deleted, so that no two digits are joined.
"""

import re
from itertools import islice
from unicodedata import decimal

_NAMES = (
    r"(?:(?:seed:|inner_|my_|chain_of_)?(?:think(?:ing)?|thoughts?(?:_process)?|reasoning|"
    r"reflection|reflexion|internal|scratch_?pad|analysis|(?:internal_|inner_)?monologue|"
    r"deliberation|cot))"
)
"""Names of tags around thinking, of whatever form the tags are."""
_CONTROL_FORM = r"(?:<\|[^<>|\n]{1,40}\|>|<｜[^<>｜\n]{1,40}｜>)"
"""Control tokens, by their form: <|eot|>, <|begin_of_box|>, <｜Assistant｜>."""
_FINAL = (
    r"(?:<\|start\|>assistant)?<\|channel\|>(?:.*?<\|channel\|>)?final\s*(?:<\|constrain\|>\w*)?"
    r"<\|message\|>"
)
_THINK = re.compile(
    rf"\s*(?:(?:<\||<|\[|◁)(?:begin_of_)?({_NAMES})(?: [^<>\[\]\n]{{0,60}})?(?:\|>|>|\]|▷).*?"
    r"(?:<\|?|\[|◁)(?:/|end_of_)\1(?:\|>|>|\]|▷)|"
    # gpt-oss: the channels before the final one, with their tokens or, as vLLM prints, without.
    rf"{_FINAL}|analysis(?=\S)(?-i:.*?assistantfinal))",
    re.IGNORECASE | re.DOTALL,
)
_THINK_BEGINS = re.compile(
    rf"\s*(?:(?:<\||<|\[|◁)(?:begin_of_)?{_NAMES}(?:\|>|>|\]|▷)|"
    r"(?:<\|start\|>assistant)?<\|channel\|>)",
    re.IGNORECASE,
)
_THINK_TAG = re.compile(rf"(?:<|\[|◁)/?{_NAMES}(?:>|\]|▷)", re.IGNORECASE)
_THINK_ENDS = re.compile(
    rf"^(?:<|\[|◁)/{_NAMES}(?:>|\]|▷)(?=[ ]{{0,9}}\r?\n)", re.IGNORECASE | re.MULTILINE
)
_TURN_ENDS = re.compile(rf"(?:</s>|<end_of_turn>|<eos>|\[/INST\]|{_CONTROL_FORM})\Z")
_TURN_BEGINS = re.compile(
    rf"\A(?:\s*(?:(?!<\|(?:channel|start\|>assistant<\|channel|begin_of_{_NAMES}|"
    rf"{_NAMES})\b){_CONTROL_FORM}"
    r"(?:\s*(?:assistant|model)\b)?(?![ \t]*[:\w])|<s>|<bos>|<start_of_turn>(?:model)?|"
    r"\[INST\](?s:(?!\[/INST\]).){1,3000}\[/INST\](?=\s*\w)|\[/?INST\])|"
    r"\s*(?:[*_#]{0,3} ?(?:assistant|ai|model|bot|judge|evaluator)\b[*_]{0,2}(?: ?:[*_]{0,2}|"
    r"\s*\n)))+",
    re.IGNORECASE,
)
_NEXT_TURN = re.compile(
    r"(?:<\|[^<>|\n]{1,40}\|>\s*){1,3}(?:user|human|system|assistant)\s*(?:<\|[^<>|\n]{1,40}\|>|\n)|(?:<\|[^<>|\n]{1,40}\|>\s*|<start_of_turn>|<\|)(?:user|human|system)\b|(?<=\w)\s*\[INST\]",
    re.IGNORECASE,
)
"""Where a turn of somebody else begins, which the model made up."""
_DECIMAL_COMMA = re.compile(r"(?<![0-9.,])([0-9]{1,3}),([0-9])(?![0-9]|[.,][0-9])", re.ASCII)
"""One digit after a comma: "85,5"; with more it may be a list or thousands."""
_PERCENT_FIRST = re.compile(r"(?<![\w%.])%([0-9]{1,3}(?:[.,][0-9]+)?)(?![\w%])", re.ASCII)
"""As Turkish writes it: "%85"."""
_RULE_AT_END = re.compile(r"\n *(?:-{3,}|\*{3,}|_{3,}|={3,})\Z")
_BEFORE_BREAK = re.compile(r" {1,9}\n")
_LONGEST_RUN = 40
_LONG_RUN = re.compile(rf"\n{{3,}}|[ ]{{{_LONGEST_RUN},}}|[0-9]{{{_LONGEST_RUN},}}")
"""White space and digits that go on: they say no more, and take long to read."""
_ESCAPED_BREAK = re.compile(r"(?:\\r)?\\n(?![a-z])")
_DIGIT = re.compile(r"(?![0-9])\d")
_STRUCK = re.compile(
    r"~~[^~\n]{1,80}~~|(?:[^\n\u0336]\u0336)+|\\(?:cancel|sout|st) ?\{[^{}\n]*\}|<!--.{0,400}?-->|"
    r"<(del|s|strike)>[^<>\n]{1,80}</\1>",
    re.IGNORECASE | re.DOTALL,
)
"""What its writer struck out, and comments."""
_CITATION = re.compile(
    r"(?<=[\w.,;!?%)])(?: ?[\[【]\^?(?:1?[0-9](?:†\w*)?)(?:[,–-] ?1?[0-9])*[\]】])+(?!\()"
)
_HTML_MARK = re.compile(
    r"</?(?:b|strong|i|em|u|mark|code|span|font|small|big|sup|sub|kbd)(?: [^<>]{0,200})?>",
    re.IGNORECASE,
)
_HTML_BREAK = re.compile(
    r"</?(?:p|div|h[1-6]|li|ul|ol|table|thead|tbody|tr|blockquote|section|center|pre|html|body|"
    r"article|main)(?: [^<>]{0,200})?>|<[bh]r ?/?>",
    re.IGNORECASE,
)
_CONTROL = re.compile(_CONTROL_FORM)

_SPACES = dict.fromkeys(
    [
        # Spaces of every width, then marks without any: joiners, directions, byte order mark.
        *(0x09, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000),
        *(*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x206A), 0xFEFF),
    ],
    " ",
)
_LINE_BREAKS = dict.fromkeys([0x0B, 0x0C, 0x0D, 0x85, 0x2028, 0x2029], "\n")
QUOTES = {**dict.fromkeys(map(ord, "“”„‟«»「」『』"), '"'), **dict.fromkeys(map(ord, "‘’‚‛"), "'")}
# Full-width letters and signs, but not those between clauses: "８５／１００", "Ｓｃｏｒｅ：９０％".
_WIDE = {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F) if chr(code) not in "！，；？"}
_SIGNS = {
    **{0x2212: "-", ord("【"): "[", ord("】"): "]"},
    **dict(zip(map(ord, "٪٫٬،؛۔।"), "%.,,;..", strict=True)),
    **_WIDE,
}
_PLAIN = {**_SPACES, **_LINE_BREAKS, **_SIGNS}

_FENCE = re.compile(r"``` ?[A-Za-z]{0,20} {0,9}\n")
_HEADING = re.compile(r"\A#{1,6} +")
# Before a letter only: "> 85" may mean more than 85.
_BULLET = re.compile(
    r"\A(?:(?:[-*+•]|>(?: ?>)*) +(?=[*_\"']*[A-Za-z])|[1-9][.)] +(?=[*_]*[A-Z][a-z ]{2,30}:)|"
    r"[*_]*[Ss]tep [1-9][0-9]?[*_]*[:.)][*_]* +(?=[*_]*[A-Za-z]))"
)
# Not stars, of which several are a rating, and not 💯 and 🔟, which are numbers. After a score only
# check marks and the like: a face may mean that the score is a joke.
_PICTURE = r"(?:(?![★☆🌟💯🔟])[\u2600-\u27bf\U0001f300-\U0001faff]\ufe0f?)"
_STAR = r"[★☆⭐🌟]\ufe0f?"
_PICTURES = re.compile(
    rf"\A(?:{_PICTURE}+|{_STAR}(?= *[*_\"']*[A-Za-z])) *|(?<=.)(?: *(?![\U0001f600-\U0001f64f"
    rf"\U0001f910-\U0001f92f\U0001f970-\U0001f97a]){_PICTURE})+\Z"
)
_BOXED = re.compile(r"\\(?:boxed|fbox|text[a-z]*|math[a-z]*|bm|bf|large|Large) *\{([^{}]*)\}")
_FRACTION = re.compile(r"\\[dt]?frac *\{ *([0-9.]+) *\}\{ *([0-9]+) *\}")
_FRAMED = re.compile(
    r"\\\(([^\\]*)\\\)|\\\[([^\\]*)\\\]|\[\[([^\[\]]*)\]\]|<<([^<>]*)>>|\{([^{}:\n]{1,12})\}"
)
_INSIDE_WORD = re.compile(r"(?<=[A-Za-z])[_'](?=[A-Za-z])")
_MARKS = re.compile(r"\*+|_+|`+|\$+|[\"']")


def after_thinking(text: str) -> str | None:
    """Return what follows the think blocks at the start; None if one is not closed."""
    text = text.removeprefix("\ufeff")
    begins = _TURN_BEGINS.match(text)
    start = position = begins.end() if begins else 0
    while block := _THINK.match(text, position):
        position = block.end()
    if position == start:
        # Some chat templates write the opening tag into the prompt: the answer has only the
        # closing one, on a separate line.
        tags = list(islice(_THINK_TAG.finditer(text), 2))
        if len(tags) == 1 and (closing := _THINK_ENDS.search(text)):
            position = closing.end()
    return None if _THINK_BEGINS.match(text, position) else text[position:]


def has_thinking(answer: str) -> bool:
    """Return whether an answer still has a tag of thinking, or begins a channel of it.

    What stands last may then be a thought.
    """
    return bool(_THINK_TAG.search(answer) or re.match(r"analysis(?=[A-Z])", answer))


def plain(text: str) -> str:
    """Return an answer with plain white space and minus signs, without an end-of-turn token.

    White space at the end becomes one line break if it contains any: the last line is complete.
    """
    body = text.rstrip()
    gap = text[len(body) :]
    if (
        ("<" in body or "[INST" in body)
        and (others := _NEXT_TURN.search(body))
        and body[: others.start()].strip()
    ):
        body, gap = body[: others.start()], "\n"
    body = body.replace("\r\n", "\n").translate(_PLAIN)
    if "\n" not in body and not body.startswith(("{", "[", '"')):
        # Line breaks that were escaped once too often.
        body = _ESCAPED_BREAK.sub("\n", body)
    if not body.isascii():
        body = _DIGIT.sub(lambda digit: str(decimal(digit[0])), body)
    if any(mark in body for mark in ("~~", "\u0336", "\\", "<")):
        body = _STRUCK.sub(" ", body)
    if "<" in body:
        body = _HTML_BREAK.sub("\n", _HTML_MARK.sub(" ", body))
        body = _CONTROL.sub(" ", without_turn_end(body))
    body = without_turn_end(body)
    if body.endswith(("--", "**", "__", "==")) and (rule := _RULE_AT_END.search(body)):
        body, gap = body[: rule.start()].rstrip(), "\n"
    if "[" in body:
        body = _CITATION.sub("", body)
    if "%" in body:
        body = _PERCENT_FIRST.sub(r"\1%", body)
    body = _BEFORE_BREAK.sub("\n", body)
    body = _LONG_RUN.sub(lambda run: run[0][: 2 if run[0][0] == "\n" else _LONGEST_RUN], body)
    body = _DECIMAL_COMMA.sub(r"\1.\2", body)
    lines = body.split("\n") if body.startswith(">") else []
    if len(lines) > 1 and all(line.startswith(">") for line in lines if line.strip()):
        # The whole answer is set as a quotation.
        body = "\n".join(line.removeprefix(">").removeprefix(" ") for line in lines)
    return body.lstrip() + ("\n" if "\n" in gap or "\r" in gap else "")


def without_turn_end(text: str) -> str:
    """Return a text without the tokens at its end by which models end their turn."""
    text = text.rstrip()
    while ends := _TURN_ENDS.search(text):
        text = text[: ends.start()].rstrip()
    return text


def fenced(text: str) -> tuple[str, str] | None:
    """Return the content of a closed code fence at the start, and what follows it."""
    opening = _FENCE.match(text)
    if opening is None:
        return None
    inside, closing, after = text[opening.end() :].partition("```")
    return (inside, after) if closing else None


def undecorated(text: str) -> str | None:
    """Return a line without heading, bullet, emphasis, quotes, backticks, LaTeX and [[ ]].

    None if a mark has no partner: `$85`, `'85` and `85*` do not mean 85.
    """
    text = _BULLET.sub("", _HEADING.sub("", text.strip().translate(QUOTES)))
    if not text.isascii():
        text = _PICTURES.sub("", text)
    if "\\" in text:
        text = _FRACTION.sub(r"\1/\2", text)
        text = _BOXED.sub(r" \1 ", _BOXED.sub(r" \1 ", text))
    text = _FRAMED.sub(lambda framed: f" {framed[framed.lastindex or 0]} ", text)
    text = _INSIDE_WORD.sub(" ", text)
    marked = _MARKS.search(text)
    return text if not marked else None if _unpaired(text) else _MARKS.sub(" ", text)


def unmarked(text: str) -> str:
    """Return text with a space for each mark of emphasis or quotation, paired or not."""
    return _MARKS.sub(" ", text.translate(QUOTES))


def _unpaired(text: str) -> bool:
    open_marks: list[str] = []
    for mark in _MARKS.findall(text):
        rest = mark
        while rest and open_marks and rest.startswith(open_marks[-1]):
            # "***" can close "*" and "**" at once.
            rest = rest.removeprefix(open_marks.pop())
        if rest:
            open_marks.append(rest)
    return bool(open_marks)
