"""The base: the tables as `study.schema.creation` makes them from the models, with nothing to run.

Every study starts at this revision or a later one; the first migration follows it.
"""

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Do nothing: a study's tables are created at this revision."""
