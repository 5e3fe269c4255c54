"""The first revision: the tables that `study.schema.creation` creates from the models.

Every study starts at this revision or a later one; the first migration follows it.
"""

revision = "0003"
down_revision = None


def upgrade() -> None:
    """Leave the database unchanged: a study's tables are created at this revision."""
