"""study.toml written anew, for a study that goes elsewhere."""

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any

from study.errors import StudyError

_DATABASE = re.compile(r"^database\s*=.*$", re.MULTILINE)
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def with_database(content: str, address: str) -> str:
    """Return settings with another database, everything else as it is.

    Raises
    ------
    StudyError
        The line can't be told for certain.
    """
    line = f"database = {json.dumps(address)}"
    changed, count = _DATABASE.subn(lambda _: line, content)
    wanted = {**tomllib.loads(content), "database": address}
    if count != 1 or tomllib.loads(changed) != wanted:
        raise StudyError("study.toml has no line of its own for `database`.")
    return changed


def as_toml(settings: Mapping[str, Any]) -> str:
    """Return settings as TOML, without the remarks that their file had."""
    lines = _lines(settings, ())
    return "\n".join(lines) + "\n"


def _lines(table: Mapping[str, Any], place: tuple[str, ...]) -> list[str]:
    plain = {k: v for k, v in table.items() if not _is_table(v) and not _is_tables(v)}
    lines = [f"{_key(name)} = {_value(value)}" for name, value in plain.items()]
    for name, value in table.items():
        inner = (*place, name)
        header = ".".join(_key(part) for part in inner)
        if _is_table(value):
            lines += ["", f"[{header}]", *_lines(value, inner)]
        elif _is_tables(value):
            for one in value:
                lines += ["", f"[[{header}]]", *_lines(one, inner)]
    return lines


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping)


def _is_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(v, Mapping) for v in value)


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _string(name)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, list):
        return f"[{', '.join(_value(one) for one in value)}]"
    if isinstance(value, Mapping):
        inner = (f"{_key(name)} = {_value(one)}" for name, one in value.items())
        return f"{{ {', '.join(inner)} }}"
    return repr(value)


def _string(text: str) -> str:
    # JSON's escapes are TOML's, but for the one sign that JSON leaves as it is.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
