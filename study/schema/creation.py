"""The tables of a new study, created from the models."""

from sqlalchemy import Column, Engine, MetaData, PrimaryKeyConstraint, String, Table, insert

from study.errors import StudyExistsError
from study.schema.base import Noun, table
from study.schema.database import SCHEMA_REVISION, writing
from study.schema.locks import LockSpace, lock_until_commit
from study.schema.owner import StudyIdentity
from study.schema.triggers import MUTABLE, protect

# As Alembic defines the table in which it keeps a database's revision.
_VERSION = Table(
    "alembic_version",
    MetaData(),
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)


def create_schema(engine: Engine) -> None:
    """Create all tables with their triggers, the study's random identity and the revision stamp.

    Raises
    ------
    StudyExistsError
        The database holds a study, be it one that another process has just created.
    """
    with writing(engine) as connection:
        lock_until_commit(connection, LockSpace.SCHEMA)
        if connection.dialect.has_table(connection, _VERSION.name):
            raise StudyExistsError(
                "The database already holds a study; name another in study.toml."
            )
        Noun.metadata.create_all(connection, checkfirst=False)
        protect(connection, [t.name for t in Noun.metadata.sorted_tables if t.name not in MUTABLE])
        connection.execute(insert(table(StudyIdentity)))
        _VERSION.create(connection, checkfirst=False)
        connection.execute(insert(_VERSION).values(version_num=SCHEMA_REVISION))
