"""What a judge's run is known by, how its answers were read, and readings by later parsers."""

import sqlalchemy as sa
from alembic import op

from study.migrations.append_only import protect

revision = "0002"
down_revision = "0001"


JUDGED_ONCE = "uq_judgment_once"
_JUDGED = ["run_id", "response_id", "construct_key", "construct_version", "repeat", "attempt"]


def upgrade() -> None:
    for column in (
        sa.Column("endpoint", sa.String(), nullable=True),
        sa.Column("repeats", sa.Integer(), nullable=False, server_default="1"),
        sa.Column("identity", sa.String(), nullable=True),
        sa.Column("observed", sa.JSON(), nullable=False, server_default="{}"),
    ):
        op.add_column("judge_run", column)
    # An index, not a constraint: SQLite adds none to a table without rebuilding it.
    op.create_index(op.f("ix_judge_run_identity"), "judge_run", ["identity"], unique=True)
    with op.batch_alter_table("judgment") as batch:
        for column in (
            sa.Column("rule", sa.String(), nullable=True),
            sa.Column("parser_version", sa.String(), nullable=True),
            sa.Column("finish_reason", sa.String(), nullable=True),
            sa.Column("served_model", sa.String(), nullable=True),
            sa.Column("fingerprint", sa.String(), nullable=True),
            sa.Column("flags", sa.JSON(), nullable=False, server_default="[]"),
            sa.Column("reasoning_tokens", sa.Integer(), nullable=True),
        ):
            batch.add_column(column)
        # A construct that changed is judged anew by the same run.
        batch.drop_constraint(
            op.f("uq_judgment_run_id_response_id_construct_key_repeat_attempt"), type_="unique"
        )
        batch.create_unique_constraint(JUDGED_ONCE, _JUDGED)
    if op.get_bind().dialect.name == "sqlite":
        # There the table was rebuilt, and lost its triggers.
        protect(["judgment"])
    op.add_column("score", sa.Column("rule", sa.String(), nullable=True))
    op.create_table(
        "reading",
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("parser_version", sa.String(), nullable=False),
        sa.Column("value", sa.Float(), nullable=True),
        sa.Column("missing_reason", sa.String(), nullable=True),
        sa.Column("rule", sa.String(), nullable=True),
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("judgment_id", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "(value IS NULL) = (missing_reason IS NOT NULL)",
            name=op.f("ck_reading_value_or_reason"),
        ),
        sa.ForeignKeyConstraint(
            ["judgment_id"], ["judgment.id"], name=op.f("fk_reading_judgment_id_judgment")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_reading")),
        sa.UniqueConstraint(
            "judgment_id", "revision", name=op.f("uq_reading_judgment_id_revision")
        ),
    )
    protect(["reading"])
