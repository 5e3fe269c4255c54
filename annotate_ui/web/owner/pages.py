"""All of the owner's pages: importing them is what gives the blueprint its routes."""

from annotate_ui.web.owner import (
    adjudicating,
    agreeing,
    exporting,
    items,
    overview,
    raters,
    signing_in,
    stopping,
    wording,
)
from annotate_ui.web.owner.blueprint import pages

__all__ = ["pages"]

PARTS = (signing_in, overview, raters, items, agreeing, stopping, adjudicating, exporting, wording)
