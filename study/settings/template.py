"""The study.toml that `ccrs init` writes."""

import json
from pathlib import Path


def name_line(folder: Path) -> str:
    """Return the setting that names a study as its folder."""
    return f"name = {json.dumps(folder.resolve().name, ensure_ascii=False)}\n"


def study_toml(folder: Path) -> str:
    """Return a study.toml with the settings that most campaigns change, at their defaults."""
    return f"""\
# `ccrs help settings` lists every setting, `ccrs help study` explains more; `ccrs help own-rubric`
# constructs of your own. Without them the five of CCRS are rated, each from 0 to 100.
{name_line(folder)}seed = 0

[design]  # who rates what; `ccrs help campaign` describes the steps
per_item = 3  # raters of each response
overlap = 1.0  # share of the queries that go to so many raters; the others go to one
calibration = 0  # queries that every rater rates first
training = 0  # training responses, before anything else
checks = 0  # attention checks of each rater

[rating]
base_url = "http://127.0.0.1:8350"  # address of the pages, with which links begin
language = "en"  # of the responses
interface_language = "en"  # of the pages' own words
"""
