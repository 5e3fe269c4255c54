"""In which language a text of the study is, as far as a page can say it."""

import re
from collections.abc import Mapping
from typing import Any

from study.settings.study_toml import StudyConfig

_LANGUAGE = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")


def language_of(attributes: Mapping[str, Any], config: StudyConfig) -> str:
    """Return the language of a query's texts: its attribute `language`, else the study's."""
    named = attributes.get("language")
    # Data may hold anything here; only what HTML takes as a language goes into a page.
    if isinstance(named, str) and _LANGUAGE.fullmatch(named):
        return named
    return config.rating.language
