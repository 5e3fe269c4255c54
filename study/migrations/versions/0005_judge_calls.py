"""What each call of a judge did: begun, and ended."""

import sqlalchemy as sa
from alembic import op

from study.migrations.append_only import protect

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.create_table(
        "judge_call",
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("wanted", sa.Integer(), nullable=False),
        sa.Column("concurrency", sa.Integer(), nullable=True),
        sa.Column("prices", sa.JSON(), nullable=True),
        sa.Column("software", sa.JSON(), nullable=False),
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("config_hash", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["run_id"], ["judge_run.id"], name=op.f("fk_judge_call_run_id_judge_run")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_judge_call")),
    )
    op.create_index(op.f("ix_judge_call_run_id"), "judge_call", ["run_id"], unique=False)
    op.create_table(
        "judge_call_end",
        sa.Column("ended", sa.Text(), nullable=False),
        sa.Column("answered", sa.Integer(), nullable=False),
        sa.Column("judged", sa.Integer(), nullable=False),
        sa.Column("missing", sa.JSON(), nullable=False),
        sa.Column("failed", sa.JSON(), nullable=False),
        sa.Column("retries", sa.JSON(), nullable=False),
        sa.Column("tokens", sa.JSON(), nullable=False),
        sa.Column("beside", sa.JSON(), nullable=False),
        sa.Column("uncounted", sa.Integer(), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("cost", sa.Float(), nullable=True),
        sa.Column("notes", sa.JSON(), nullable=False),
        sa.Column("figures", sa.JSON(), nullable=False),
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("call_id", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["call_id"], ["judge_call.id"], name=op.f("fk_judge_call_end_call_id_judge_call")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_judge_call_end")),
        sa.UniqueConstraint("call_id", name=op.f("uq_judge_call_end_call_id")),
    )
    protect(["judge_call", "judge_call_end"])
