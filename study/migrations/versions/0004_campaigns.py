"""What campaigns add: design, training, checks, comparisons, taking part, the owner's acts."""

import secrets

import sqlalchemy as sa
from alembic import op

from study.migrations.append_only import protect

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    for name, column in (
        ("assignment", sa.Column("round", sa.Integer(), nullable=False, server_default="0")),
        ("assignment", sa.Column("layout", sa.Text(), nullable=False, server_default="single")),
        ("assignment", sa.Column("released_at", sa.DateTime(timezone=True), nullable=True)),
        ("rating", sa.Column("wall_seconds", sa.Float(), nullable=True)),
        ("score", sa.Column("layout", sa.Text(), nullable=True)),
        ("response", sa.Column("role", sa.Text(), nullable=False, server_default="answer")),
    ):
        op.add_column(name, column)
    _create_design()
    _create_comparisons()
    _create_taking_part()
    _create_owner()
    protect(["expected_value", "check_pair", "decision", "consent", "departure", "pause", "look"])
    protect(["erasure", "study_identity", "enrolment", "owner_password"])
    identity = sa.table("study_identity", sa.column("public_id"))
    op.get_bind().execute(sa.insert(identity).values(public_id=secrets.token_hex(16)))


def _create_taking_part() -> None:
    op.create_table(
        "consent",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("rater_id", sa.Integer(), nullable=False),
        sa.Column("text_hash", sa.String(), nullable=False),
        sa.Column("agreed", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["rater_id"], ["rater.id"], name=op.f("fk_consent_rater_id_rater")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_consent")),
    )
    op.create_index(op.f("ix_consent_rater_id"), "consent", ["rater_id"], unique=False)
    op.create_table(
        "enrolment_link",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("quota", sa.Integer(), nullable=False),
        sa.Column("queries_each", sa.Integer(), nullable=True),
        sa.Column("attributes", sa.JSON(), nullable=False),
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("token_hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("closed_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_enrolment_link")),
        sa.UniqueConstraint("name", name=op.f("uq_enrolment_link_name")),
    )
    op.create_index(
        op.f("ix_enrolment_link_token_hash"), "enrolment_link", ["token_hash"], unique=True
    )
    op.create_table(
        "enrolment",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("link_id", sa.Integer(), nullable=False),
        sa.Column("rater_id", sa.Integer(), nullable=False),
        sa.Column("external_id", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["link_id"], ["enrolment_link.id"], name=op.f("fk_enrolment_link_id_enrolment_link")
        ),
        sa.ForeignKeyConstraint(
            ["rater_id"], ["rater.id"], name=op.f("fk_enrolment_rater_id_rater")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_enrolment")),
        sa.UniqueConstraint(
            "link_id", "external_id", name=op.f("uq_enrolment_link_id_external_id")
        ),
    )
    op.create_index(op.f("ix_enrolment_link_id"), "enrolment", ["link_id"], unique=False)
    op.create_index(op.f("ix_enrolment_rater_id"), "enrolment", ["rater_id"], unique=True)
    op.create_table(
        "departure",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("rater_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["rater_id"], ["rater.id"], name=op.f("fk_departure_rater_id_rater")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_departure")),
    )
    op.create_index(op.f("ix_departure_rater_id"), "departure", ["rater_id"], unique=False)


def _create_owner() -> None:
    op.create_table(
        "study_identity",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("public_id", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_study_identity")),
    )
    op.create_table(
        "owner_password",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("password_hash", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_owner_password")),
    )
    op.create_table(
        "pause",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("paused", sa.Boolean(), nullable=False),
        sa.Column("message", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pause")),
    )
    op.create_table(
        "look",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("seen_in", sa.String(), nullable=False),
        sa.Column("ratings", sa.Integer(), nullable=False),
        sa.Column("result", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_look")),
    )
    op.create_table(
        "erasure",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_erasure")),
    )


def _create_design() -> None:
    op.create_table(
        "expected_value",
        sa.Column("construct_key", sa.String(), nullable=False),
        sa.Column("purpose", sa.Text(), nullable=False),
        sa.Column("low", sa.Float(), nullable=False),
        sa.Column("high", sa.Float(), nullable=False),
        sa.Column("explanation", sa.Text(), nullable=True),
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("response_id", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["response_id"], ["response.id"], name=op.f("fk_expected_value_response_id_response")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_expected_value")),
        sa.UniqueConstraint(
            "response_id",
            "construct_key",
            "purpose",
            name=op.f("uq_expected_value_response_id_construct_key_purpose"),
        ),
    )
    op.create_table(
        "check_pair",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("original_id", sa.Integer(), nullable=False),
        sa.Column("damaged_id", sa.Integer(), nullable=False),
        sa.Column("construct_keys", sa.JSON(), nullable=False),
        sa.Column("damage", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["damaged_id"], ["response.id"], name=op.f("fk_check_pair_damaged_id_response")
        ),
        sa.ForeignKeyConstraint(
            ["original_id"], ["response.id"], name=op.f("fk_check_pair_original_id_response")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_check_pair")),
        sa.UniqueConstraint(
            "original_id", "damaged_id", name=op.f("uq_check_pair_original_id_damaged_id")
        ),
    )
    op.create_index(op.f("ix_check_pair_damaged_id"), "check_pair", ["damaged_id"], unique=False)


def _create_comparisons() -> None:
    op.create_table(
        "comparison",
        sa.Column("construct_key", sa.String(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("swapped", sa.Boolean(), nullable=False),
        sa.Column("inclusion_prob", sa.Float(), nullable=False),
        sa.Column("stratum", sa.String(), nullable=True),
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("public_id", sa.String(), nullable=False),
        sa.Column("rater_id", sa.Integer(), nullable=False),
        sa.Column("query_id", sa.Integer(), nullable=False),
        sa.Column("response_a_id", sa.Integer(), nullable=False),
        sa.Column("response_b_id", sa.Integer(), nullable=False),
        sa.Column("opened_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("released_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("config_hash", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["query_id"], ["query.id"], name=op.f("fk_comparison_query_id_query")
        ),
        sa.ForeignKeyConstraint(
            ["rater_id"], ["rater.id"], name=op.f("fk_comparison_rater_id_rater")
        ),
        sa.ForeignKeyConstraint(
            ["response_a_id"], ["response.id"], name=op.f("fk_comparison_response_a_id_response")
        ),
        sa.ForeignKeyConstraint(
            ["response_b_id"], ["response.id"], name=op.f("fk_comparison_response_b_id_response")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_comparison")),
        sa.UniqueConstraint(
            "rater_id",
            "response_a_id",
            "response_b_id",
            "construct_key",
            name="uq_comparison_rater_id_pair",
        ),
    )
    op.create_index(op.f("ix_comparison_public_id"), "comparison", ["public_id"], unique=True)
    op.create_index(op.f("ix_comparison_query_id"), "comparison", ["query_id"], unique=False)
    op.create_index(op.f("ix_comparison_rater_id"), "comparison", ["rater_id"], unique=False)
    op.create_table(
        "decision",
        sa.Column("construct_version", sa.Integer(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("value", sa.Float(), nullable=True),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("input_kind", sa.String(), nullable=True),
        sa.Column("active_seconds", sa.Float(), nullable=True),
        sa.Column("wall_seconds", sa.Float(), nullable=True),
        sa.Column("comment", sa.Text(), nullable=True),
        sa.Column("revealed", sa.JSON(), nullable=False),
        sa.Column("idempotency_key", sa.String(), nullable=True),
        sa.Column("rules_hash", sa.String(), nullable=True),
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("comparison_id", sa.Integer(), nullable=False),
        sa.Column("construct_key", sa.String(), nullable=False),
        sa.Column("config_hash", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "(status = 'rated') = (value IS NOT NULL)", name=op.f("ck_decision_value_or_status")
        ),
        sa.ForeignKeyConstraint(
            ["comparison_id"], ["comparison.id"], name=op.f("fk_decision_comparison_id_comparison")
        ),
        sa.ForeignKeyConstraint(
            ["construct_key", "construct_version"],
            ["construct.key", "construct.version"],
            name=op.f("fk_decision_construct_key_construct_version_construct"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_decision")),
        sa.UniqueConstraint(
            "comparison_id",
            "idempotency_key",
            name=op.f("uq_decision_comparison_id_idempotency_key"),
        ),
        sa.UniqueConstraint(
            "comparison_id", "revision", name=op.f("uq_decision_comparison_id_revision")
        ),
    )
