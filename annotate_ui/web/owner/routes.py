"""All of the owner's pages: importing them is what gives the blueprint its routes."""

from annotate_ui.web.owner import (
    adjudication_page,
    agreement_page,
    export_page,
    items_page,
    labels,
    login_page,
    overview_page,
    raters_page,
    stopping_page,
)
from annotate_ui.web.owner.blueprint import pages

__all__ = ["pages"]

PARTS = (
    login_page,
    overview_page,
    raters_page,
    items_page,
    agreement_page,
    stopping_page,
    adjudication_page,
    export_page,
    labels,
)
