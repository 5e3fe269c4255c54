"""A study from one file: created, filled and assigned, with links for its raters, or not at all."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from annotate_ui.participants.enrolment_links import make_link
from annotate_ui.participants.invitation import invite
from study.assignment.planner import Assigned, assign
from study.errors import StudyError, StudyExistsError
from study.importing.file_import import import_file
from study.lifecycle.backup import named_files
from study.lifecycle.database_copy import empty_database
from study.progress_bar import Advance
from study.settings.campaign import CampaignSpec, read_campaign
from study.settings.study_toml import StudyConfig
from study.settings.template import name_line
from study.study import Study
from study.text import shell_word

if TYPE_CHECKING:
    from study.importing.import_report import ImportSummary


@dataclass(frozen=True)
class BegunCampaign:
    """A study with responses, work for its raters, and their links."""

    config: StudyConfig
    imported: tuple["ImportSummary", ...]
    assigned: Assigned
    links: dict[str, str]
    """Rater, or name of an enrolment link, to the address, which is shown once."""
    joins: bool
    """Whether these are links by which raters join."""


def begin_campaign(folder: Path, path: Path, progress: Advance | None = None) -> BegunCampaign:
    """Create the study that a file of `ccrs init --campaign` describes.

    Parameters
    ----------
    folder
        Folder of the study.
    path
        The file. Files that it names are looked for in its folder; those that study.toml names are
        copied to the study's.
    progress
        Called with the amount read of the responses and the total.

    Raises
    ------
    StudyError
        The folder has a study already; or the file, the responses or what it asks for can't be
        used. Nothing is left behind.
    """
    if (folder / "study.toml").exists():
        raise StudyExistsError(
            f"{folder} already contains a study. `ccrs status {shell_word(folder)}` shows what it "
            "has and what comes next; name another folder to begin anew."
        )
    settings = read_campaign(path)
    responses = [path.parent / name for name in settings.campaign.responses]
    _check_files(path, "campaign.responses", settings.campaign.responses)
    texts = named_files(settings.config)
    _check_files(path, "[rating]", texts)
    apart = folder.resolve() != path.parent.resolve()
    for name in texts if apart else ():
        if (folder / name).exists():
            raise StudyError(f"{folder / name} already exists; move it away first.")
    text = settings.study_toml
    if "name" not in settings.config.model_fields_set:
        text = f"{name_line(folder)}\n{text}"
    with _all_or_nothing(folder, text, texts if apart else []) as study:
        for name in texts if apart else ():
            shutil.copyfile(path.parent / name, folder / name)
        links = _join_links(study, settings.campaign, path)
        imported = tuple(import_file(study, file, progress=progress) for file in responses)
        try:
            assigned = assign(
                study,
                _raters(settings.campaign),
                open_slots=bool(links),
                kept_for=list(links) or None,
            )
        except StudyError as error:
            raise StudyError(f"{path}, [campaign] with [design]: {error}") from None
        personal = {} if links else {one.rater: one.link for one in invite(study)}
        return BegunCampaign(study.config, imported, assigned, links or personal, joins=bool(links))


def _check_files(path: Path, key: str, names: "list[str] | tuple[str, ...]") -> None:
    for name in names:
        if not (path.parent / name).is_file():
            raise StudyError(
                f"{path}: {key} names {name!r}, and there is no file {path.parent / name}. Paths "
                f"begin in the folder of {path.name}."
            )


def _raters(campaign: CampaignSpec) -> list[str] | int | None:
    return list(campaign.raters) if isinstance(campaign.raters, tuple) else campaign.raters


def _join_links(study: Study, campaign: CampaignSpec, path: Path) -> dict[str, str]:
    links = {}
    for name, link in campaign.links.items():
        try:
            _, links[name] = make_link(
                study, name, link.quota, link.queries, link.languages, id_form=link.require_id
            )
        except StudyError as error:
            raise StudyError(f"{path}: campaign.links.{name}: {error}") from None
    return links


@contextmanager
def _all_or_nothing(folder: Path, settings: str, texts: list[str]) -> Iterator[Study]:
    """Yield a new study, which is removed after an error."""
    made = [place for place in (folder, *folder.absolute().parents) if not place.exists()]
    try:
        study = Study.create(folder, settings)
        try:
            with study:
                yield study
        except BaseException:
            _remove(study, texts)
            raise
    except BaseException:
        for place in made:
            with suppress(OSError):
                place.rmdir()
        raise


def _remove(study: Study, texts: list[str]) -> None:
    # Without study.toml, what is left is no study.
    (study.folder / "study.toml").unlink()
    if "://" in study.config.database:
        empty_database(study.engine)
        study.close()
    else:
        study.close()
        for suffix in ("", "-wal", "-shm"):
            (study.folder / f"{study.config.database}{suffix}").unlink(missing_ok=True)
    for name in texts:
        (study.folder / name).unlink(missing_ok=True)
