"""Answers to probes: altered prompts of a run, and prompts asked again for drift."""

import sqlalchemy as sa
from alembic import op

from study.migrations.append_only import protect

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.create_table(
        "probe_answer",
        sa.Column("construct_key", sa.String(), nullable=False),
        sa.Column("construct_version", sa.Integer(), nullable=False),
        sa.Column("repeat", sa.Integer(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("value", sa.Float(), nullable=True),
        sa.Column("missing_reason", sa.String(), nullable=True),
        sa.Column("rule", sa.String(), nullable=True),
        sa.Column("parser_version", sa.String(), nullable=True),
        sa.Column("raw_answer", sa.Text(), nullable=True),
        sa.Column("finish_reason", sa.String(), nullable=True),
        sa.Column("served_model", sa.String(), nullable=True),
        sa.Column("fingerprint", sa.String(), nullable=True),
        sa.Column("flags", sa.JSON(), nullable=False),
        sa.Column("distribution", sa.JSON(), nullable=True),
        sa.Column("prompt_tokens", sa.Integer(), nullable=True),
        sa.Column("completion_tokens", sa.Integer(), nullable=True),
        sa.Column("reasoning_tokens", sa.Integer(), nullable=True),
        sa.Column("cached_tokens", sa.Integer(), nullable=True),
        sa.Column("milliseconds", sa.Float(), nullable=True),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("probe", sa.String(), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("fault", sa.Text(), nullable=False),
        sa.Column("change", sa.JSON(), nullable=False),
        sa.Column("prompt_hash", sa.String(), nullable=False),
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("response_id", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "(value IS NULL) = (missing_reason IS NOT NULL)",
            name=op.f("ck_probe_answer_value_or_reason"),
        ),
        sa.ForeignKeyConstraint(
            ["construct_key", "construct_version"],
            ["construct.key", "construct.version"],
            name=op.f("fk_probe_answer_construct_key_construct_version_construct"),
        ),
        sa.ForeignKeyConstraint(
            ["run_id"], ["judge_run.id"], name=op.f("fk_probe_answer_run_id_judge_run")
        ),
        sa.ForeignKeyConstraint(
            ["response_id"], ["response.id"], name=op.f("fk_probe_answer_response_id_response")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_probe_answer")),
        sa.UniqueConstraint(
            "run_id",
            "response_id",
            "construct_key",
            "construct_version",
            "probe",
            "round",
            "repeat",
            "attempt",
            name=op.f("uq_probe_answer_once"),
        ),
    )
    protect(["probe_answer"])
