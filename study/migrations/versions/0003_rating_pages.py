"""What the rating pages store: links, reveals, opened passages, and how a value was committed."""

import secrets

import sqlalchemy as sa
from alembic import op

from study.migrations.append_only import protect

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    _add_public_id("rater")
    _add_public_id("assignment")
    with op.batch_alter_table("assignment") as batch:
        batch.add_column(sa.Column("replaces_id", sa.Integer(), nullable=True))
        batch.create_foreign_key(
            op.f("fk_assignment_replaces_id_assignment"), "assignment", ["replaces_id"], ["id"]
        )
    op.create_index(op.f("ix_assignment_replaces_id"), "assignment", ["replaces_id"], unique=True)
    for column in (
        sa.Column("after_reveal", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("seen_more", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("late", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("flags", sa.JSON(), nullable=False, server_default="[]"),
    ):
        op.add_column("rating", column)
    _create_invitation()
    _create_reveal()
    _create_opened_passage()
    _create_closing_answer()
    protect(["reveal", "opened_passage", "closing_answer"])


def _add_public_id(name: str) -> None:
    op.add_column(name, sa.Column("public_id", sa.String(), nullable=True))
    table = sa.table(name, sa.column("id"), sa.column("public_id"))
    connection = op.get_bind()
    rows = [
        {"row": row, "random": secrets.token_hex(16)}
        for row in connection.execute(sa.select(table.c.id)).scalars()
    ]
    if rows:
        connection.execute(
            sa.update(table)
            .where(table.c.id == sa.bindparam("row"))
            .values(public_id=sa.bindparam("random")),
            rows,
        )
    with op.batch_alter_table(name) as batch:
        batch.alter_column("public_id", existing_type=sa.String(), nullable=False)
    op.create_index(op.f(f"ix_{name}_public_id"), name, ["public_id"], unique=True)


def _create_invitation() -> None:
    op.create_table(
        "invitation",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("rater_id", sa.Integer(), nullable=False),
        sa.Column("token_hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("used_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["rater_id"], ["rater.id"], name=op.f("fk_invitation_rater_id_rater")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_invitation")),
    )
    op.create_index(op.f("ix_invitation_rater_id"), "invitation", ["rater_id"], unique=False)
    op.create_index(op.f("ix_invitation_token_hash"), "invitation", ["token_hash"], unique=True)


def _create_reveal() -> None:
    op.create_table(
        "reveal",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("assignment_id", sa.Integer(), nullable=False),
        sa.Column("stage", sa.Integer(), nullable=False),
        sa.Column("fields", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["assignment_id"], ["assignment.id"], name=op.f("fk_reveal_assignment_id_assignment")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_reveal")),
        sa.UniqueConstraint("assignment_id", "stage", name=op.f("uq_reveal_assignment_id_stage")),
    )


def _create_opened_passage() -> None:
    op.create_table(
        "opened_passage",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("assignment_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["assignment_id"],
            ["assignment.id"],
            name=op.f("fk_opened_passage_assignment_id_assignment"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_opened_passage")),
        sa.UniqueConstraint(
            "assignment_id", "position", name=op.f("uq_opened_passage_assignment_id_position")
        ),
    )


def _create_closing_answer() -> None:
    op.create_table(
        "closing_answer",
        sa.Column("recognized", sa.Text(), nullable=False),
        sa.Column("comment", sa.Text(), nullable=True),
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("rater_id", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["rater_id"], ["rater.id"], name=op.f("fk_closing_answer_rater_id_rater")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_closing_answer")),
    )
    op.create_index(op.f("ix_closing_answer_rater_id"), "closing_answer", ["rater_id"])
