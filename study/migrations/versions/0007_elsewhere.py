"""What ratings from other places add: projects, tasks and raters there, values set aside."""

import sqlalchemy as sa
from alembic import op

from study.migrations.append_only import protect

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.add_column("rating", sa.Column("external_at", sa.DateTime(timezone=True), nullable=True))
    op.create_table(
        "elsewhere_project",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("server", sa.Text(), nullable=False),
        sa.Column("instance", sa.String(), nullable=False),
        sa.Column("external_id", sa.String(), nullable=False),
        sa.Column("stage", sa.Integer(), nullable=False),
        sa.Column("fields", sa.JSON(), nullable=False),
        sa.Column("controls", sa.JSON(), nullable=False),
        sa.Column("overlap", sa.Integer(), nullable=False),
        sa.Column("predictions", sa.String(), nullable=True),
        sa.Column("config_hash", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_elsewhere_project")),
        sa.UniqueConstraint(
            "instance", "external_id", name=op.f("uq_elsewhere_project_instance_external_id")
        ),
    )
    op.create_table(
        "elsewhere_task",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("response_id", sa.Integer(), nullable=False),
        sa.Column("external_id", sa.String(), nullable=False),
        sa.Column("lost", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"],
            ["elsewhere_project.id"],
            name=op.f("fk_elsewhere_task_project_id_elsewhere_project"),
        ),
        sa.ForeignKeyConstraint(
            ["response_id"], ["response.id"], name=op.f("fk_elsewhere_task_response_id_response")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_elsewhere_task")),
        sa.UniqueConstraint(
            "project_id", "external_id", name=op.f("uq_elsewhere_task_project_id_external_id")
        ),
        sa.UniqueConstraint(
            "project_id", "response_id", name=op.f("uq_elsewhere_task_project_id_response_id")
        ),
    )
    op.create_index(
        op.f("ix_elsewhere_task_response_id"), "elsewhere_task", ["response_id"], unique=False
    )
    op.create_table(
        "elsewhere_rater",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("server", sa.Text(), nullable=False),
        sa.Column("instance", sa.String(), nullable=False),
        sa.Column("external_id", sa.String(), nullable=False),
        sa.Column("rater_id", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["rater_id"], ["rater.id"], name=op.f("fk_elsewhere_rater_rater_id_rater")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_elsewhere_rater")),
        sa.UniqueConstraint(
            "instance", "external_id", name=op.f("uq_elsewhere_rater_instance_external_id")
        ),
    )
    op.create_index(
        op.f("ix_elsewhere_rater_rater_id"), "elsewhere_rater", ["rater_id"], unique=False
    )
    op.create_table(
        "set_aside",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("rater_id", sa.Integer(), nullable=True),
        sa.Column("response_id", sa.Integer(), nullable=True),
        sa.Column("construct_key", sa.String(), nullable=True),
        sa.Column("value", sa.Text(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("external_id", sa.String(), nullable=True),
        sa.Column("external_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"],
            ["elsewhere_project.id"],
            name=op.f("fk_set_aside_project_id_elsewhere_project"),
        ),
        sa.ForeignKeyConstraint(
            ["rater_id"], ["rater.id"], name=op.f("fk_set_aside_rater_id_rater")
        ),
        sa.ForeignKeyConstraint(
            ["response_id"], ["response.id"], name=op.f("fk_set_aside_response_id_response")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_set_aside")),
        sa.UniqueConstraint("project_id", "digest", name=op.f("uq_set_aside_project_id_digest")),
    )
    op.create_index(op.f("ix_set_aside_rater_id"), "set_aside", ["rater_id"], unique=False)
    # Tasks are what stands over there by now, no record: they go and come.
    protect(["elsewhere_project", "elsewhere_rater", "set_aside"])
