"""The documentation site: pages of this folder and, made from the repository, lists and READMEs.

`pip install -e '.[docs]' && sphinx-build -W data/manual manual` builds it; open manual/index.html.
"""

from importlib.metadata import version as installed_version
from pathlib import Path

from sphinx.application import Sphinx

from study._manual.made_pages import write_pages

project = "ccrs-study"
author = "The ccrs-study authors"
project_copyright = author
version = release = installed_version("ccrs-study")

extensions = ["myst_parser"]
# CONTRIBUTING.md and the READMEs link to headings by the anchors that code hosts give them.
myst_heading_anchors = 4
exclude_patterns = ["__pycache__"]
# Examples of a language with comments or ellipses are shown without colors.
suppress_warnings = ["misc.highlighting_failure"]

html_theme = "furo"
html_title = "ccrs-study"
html_static_path = ["style"]
html_css_files = ["wide_tables.css"]
html_show_copyright = False


def setup(app: Sphinx) -> None:
    """Write the pages that are made from the repository before Sphinx looks for sources."""
    app.connect("builder-inited", lambda app: write_pages(Path(app.srcdir) / "made"))
