"""The address of the Label Studio server that a study uses."""

from sqlalchemy import Connection, select

from study.schema.tables import external_projects
from study.settings.study_toml import StudyConfig


def label_studio_address(connection: Connection, config: StudyConfig) -> str | None:
    """Return the address in study.toml, else the one of the newest project; None: neither."""
    if config.label_studio.url is not None:
        return config.label_studio.url
    newest = select(external_projects.c.server).order_by(external_projects.c.id.desc()).limit(1)
    return connection.execute(newest).scalar()
