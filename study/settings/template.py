"""The study.toml that `ccrs init` writes."""

import json


def study_toml(name: str) -> str:
    """Return a study.toml with the settings that most studies need, as comments with examples."""
    return f"""\
# Settings of this study. `ccrs help study` explains every setting, under "Settings".
name = {json.dumps(name, ensure_ascii=False)}
seed = 0

# What is measured. Without constructs of your own: the five of CCRS, each from 0 to 100.
# [[constructs]]
# key = "FL"
# name = "Fluency"
# question = "How well does the response read?"
# scale = {{ min = 1, max = 5, step = 1, level = "ordinal" }}

# Who rates what; `ccrs help campaign` describes the steps.
# [design]
# sample = 200      # queries drawn at random; default: all
# per_item = 3      # raters of each response

# Instructions to the raters, in a file next to this one; default: none.
# [rating]
# instructions = "instructions.md"
"""
