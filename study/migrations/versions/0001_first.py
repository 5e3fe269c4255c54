"""The first schema: every noun of a campaign."""

import sqlalchemy as sa
from alembic import op

from study.migrations.append_only import protect

revision = "0001"
down_revision = None

FACTS = (
    "construct",
    "imported_file",
    "judge_run",
    "judgment",
    "output",
    "passage",
    "preference",
    "query",
    "rating",
    "response",
    "response_alias",
    "response_passage",
    "score",
)


def upgrade() -> None:
    op.create_table(
        "construct",
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("scale_min", sa.Float(), nullable=False),
        sa.Column("scale_max", sa.Float(), nullable=False),
        sa.Column("scale_step", sa.Float(), nullable=True),
        sa.Column("scale_level", sa.Text(), nullable=False),
        sa.Column("anchors", sa.JSON(), nullable=False),
        sa.Column("sees", sa.JSON(), nullable=False),
        sa.Column("rules", sa.JSON(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("key", "version", name=op.f("pk_construct")),
    )
    op.create_table(
        "imported_file",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("sha256", sa.String(), nullable=False),
        sa.Column("importer", sa.String(), nullable=False),
        sa.Column("options", sa.JSON(), nullable=False),
        sa.Column("counts", sa.JSON(), nullable=False),
        sa.Column("config_hash", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_imported_file")),
    )
    op.create_table(
        "judge_run",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("engine", sa.String(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("model_revision", sa.String(), nullable=True),
        sa.Column("prompt_version", sa.String(), nullable=False),
        sa.Column("prompt_hash", sa.String(), nullable=False),
        sa.Column("decoding", sa.JSON(), nullable=False),
        sa.Column("seed", sa.Integer(), nullable=True),
        sa.Column("software", sa.JSON(), nullable=False),
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("config_hash", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_judge_run")),
        sa.UniqueConstraint("name", name=op.f("uq_judge_run_name")),
    )
    op.create_table(
        "passage",
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("content_hash", sa.LargeBinary(length=16), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_passage")),
        sa.UniqueConstraint("content_hash", name=op.f("uq_passage_content_hash")),
    )
    op.create_table(
        "query",
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("references", sa.JSON(), nullable=False),
        sa.Column("attributes", sa.JSON(), nullable=False),
        sa.Column("id", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_query")),
        sa.UniqueConstraint("key", name=op.f("uq_query_key")),
    )
    op.create_table(
        "rater",
        sa.Column("code", sa.String(), nullable=False),
        sa.Column("attributes", sa.JSON(), nullable=False),
        sa.Column("id", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rater")),
        sa.UniqueConstraint("code", name=op.f("uq_rater_code")),
    )
    op.create_table(
        "response",
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("query_id", sa.Integer(), nullable=False),
        sa.Column("content_hash", sa.LargeBinary(length=16), nullable=False),
        sa.Column("context_hash", sa.LargeBinary(length=16), nullable=True),
        sa.ForeignKeyConstraint(
            ["query_id"], ["query.id"], name=op.f("fk_response_query_id_query")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_response")),
        sa.UniqueConstraint("key", "version", name=op.f("uq_response_key_version")),
        sa.UniqueConstraint(
            "query_id", "content_hash", name=op.f("uq_response_query_id_content_hash")
        ),
    )
    op.create_table(
        "assignment",
        sa.Column("construct_keys", sa.JSON(), nullable=False),
        sa.Column("purpose", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("repeat", sa.Integer(), nullable=False),
        sa.Column("channel", sa.String(), nullable=False),
        sa.Column("inclusion_prob", sa.Float(), nullable=False),
        sa.Column("stratum", sa.String(), nullable=True),
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("rater_id", sa.Integer(), nullable=True),
        sa.Column("response_id", sa.Integer(), nullable=False),
        sa.Column("leased_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("config_hash", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["rater_id"], ["rater.id"], name=op.f("fk_assignment_rater_id_rater")
        ),
        sa.ForeignKeyConstraint(
            ["response_id"], ["response.id"], name=op.f("fk_assignment_response_id_response")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_assignment")),
    )
    op.create_index(op.f("ix_assignment_rater_id"), "assignment", ["rater_id"], unique=False)
    op.create_index(op.f("ix_assignment_response_id"), "assignment", ["response_id"], unique=False)
    op.create_table(
        "judgment",
        sa.Column("construct_key", sa.String(), nullable=False),
        sa.Column("construct_version", sa.Integer(), nullable=False),
        sa.Column("repeat", sa.Integer(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("value", sa.Float(), nullable=True),
        sa.Column("missing_reason", sa.String(), nullable=True),
        sa.Column("raw_answer", sa.Text(), nullable=True),
        sa.Column("distribution", sa.JSON(), nullable=True),
        sa.Column("prompt_tokens", sa.Integer(), nullable=True),
        sa.Column("completion_tokens", sa.Integer(), nullable=True),
        sa.Column("cached_tokens", sa.Integer(), nullable=True),
        sa.Column("milliseconds", sa.Float(), nullable=True),
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("response_id", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "(value IS NULL) = (missing_reason IS NOT NULL)",
            name=op.f("ck_judgment_value_or_reason"),
        ),
        sa.ForeignKeyConstraint(
            ["construct_key", "construct_version"],
            ["construct.key", "construct.version"],
            name=op.f("fk_judgment_construct_key_construct_version_construct"),
        ),
        sa.ForeignKeyConstraint(
            ["response_id"], ["response.id"], name=op.f("fk_judgment_response_id_response")
        ),
        sa.ForeignKeyConstraint(
            ["run_id"], ["judge_run.id"], name=op.f("fk_judgment_run_id_judge_run")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_judgment")),
        sa.UniqueConstraint(
            "run_id",
            "response_id",
            "construct_key",
            "repeat",
            "attempt",
            name=op.f("uq_judgment_run_id_response_id_construct_key_repeat_attempt"),
        ),
    )
    op.create_index(op.f("ix_judgment_response_id"), "judgment", ["response_id"], unique=False)
    op.create_table(
        "output",
        sa.Column("system", sa.String(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("query_id", sa.Integer(), nullable=False),
        sa.Column("response_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["query_id"], ["query.id"], name=op.f("fk_output_query_id_query")),
        sa.ForeignKeyConstraint(
            ["response_id"], ["response.id"], name=op.f("fk_output_response_id_response")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_output")),
        sa.UniqueConstraint(
            "query_id", "system", "revision", name=op.f("uq_output_query_id_system_revision")
        ),
    )
    op.create_index(op.f("ix_output_response_id"), "output", ["response_id"], unique=False)
    op.create_table(
        "preference",
        sa.Column("construct_key", sa.String(), nullable=False),
        sa.Column("construct_version", sa.Integer(), nullable=False),
        sa.Column("scorer", sa.String(), nullable=False),
        sa.Column("scorer_kind", sa.Text(), nullable=False),
        sa.Column("repeat", sa.Integer(), nullable=False),
        sa.Column("value", sa.Float(), nullable=True),
        sa.Column("missing_reason", sa.String(), nullable=True),
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("query_id", sa.Integer(), nullable=False),
        sa.Column("response_a_id", sa.Integer(), nullable=False),
        sa.Column("response_b_id", sa.Integer(), nullable=False),
        sa.Column("file_id", sa.Integer(), nullable=True),
        sa.CheckConstraint(
            "(value IS NULL) = (missing_reason IS NOT NULL)",
            name=op.f("ck_preference_value_or_reason"),
        ),
        sa.ForeignKeyConstraint(
            ["construct_key", "construct_version"],
            ["construct.key", "construct.version"],
            name=op.f("fk_preference_construct_key_construct_version_construct"),
        ),
        sa.ForeignKeyConstraint(
            ["file_id"], ["imported_file.id"], name=op.f("fk_preference_file_id_imported_file")
        ),
        sa.ForeignKeyConstraint(
            ["query_id"], ["query.id"], name=op.f("fk_preference_query_id_query")
        ),
        sa.ForeignKeyConstraint(
            ["response_a_id"], ["response.id"], name=op.f("fk_preference_response_a_id_response")
        ),
        sa.ForeignKeyConstraint(
            ["response_b_id"], ["response.id"], name=op.f("fk_preference_response_b_id_response")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_preference")),
        sa.UniqueConstraint(
            "response_a_id",
            "response_b_id",
            "construct_key",
            "construct_version",
            "scorer",
            "repeat",
            name=op.f(
                "uq_preference_response_a_id_response_b_id_construct_key_construct_version_scorer_repeat"
            ),
        ),
    )
    op.create_index(op.f("ix_preference_query_id"), "preference", ["query_id"], unique=False)
    op.create_table(
        "response_alias",
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("response_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["response_id"], ["response.id"], name=op.f("fk_response_alias_response_id_response")
        ),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_response_alias")),
    )
    op.create_index(
        op.f("ix_response_alias_response_id"), "response_alias", ["response_id"], unique=False
    )
    op.create_table(
        "response_passage",
        sa.Column("response_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("passage_id", sa.Integer(), nullable=False),
        sa.Column("document", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(
            ["passage_id"], ["passage.id"], name=op.f("fk_response_passage_passage_id_passage")
        ),
        sa.ForeignKeyConstraint(
            ["response_id"], ["response.id"], name=op.f("fk_response_passage_response_id_response")
        ),
        sa.PrimaryKeyConstraint("response_id", "position", name=op.f("pk_response_passage")),
    )
    op.create_index(
        op.f("ix_response_passage_passage_id"), "response_passage", ["passage_id"], unique=False
    )
    op.create_table(
        "score",
        sa.Column("construct_key", sa.String(), nullable=False),
        sa.Column("construct_version", sa.Integer(), nullable=False),
        sa.Column("scorer", sa.String(), nullable=False),
        sa.Column("scorer_kind", sa.Text(), nullable=False),
        sa.Column("repeat", sa.Integer(), nullable=False),
        sa.Column("value", sa.Float(), nullable=True),
        sa.Column("missing_reason", sa.String(), nullable=True),
        sa.Column("inclusion_prob", sa.Float(), nullable=False),
        sa.Column("stratum", sa.String(), nullable=True),
        sa.Column("source", sa.String(), nullable=True),
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("response_id", sa.Integer(), nullable=False),
        sa.Column("file_id", sa.Integer(), nullable=True),
        sa.CheckConstraint(
            "(value IS NULL) = (missing_reason IS NOT NULL)", name=op.f("ck_score_value_or_reason")
        ),
        sa.ForeignKeyConstraint(
            ["construct_key", "construct_version"],
            ["construct.key", "construct.version"],
            name=op.f("fk_score_construct_key_construct_version_construct"),
        ),
        sa.ForeignKeyConstraint(
            ["file_id"], ["imported_file.id"], name=op.f("fk_score_file_id_imported_file")
        ),
        sa.ForeignKeyConstraint(
            ["response_id"], ["response.id"], name=op.f("fk_score_response_id_response")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_score")),
        sa.UniqueConstraint(
            "response_id",
            "construct_key",
            "construct_version",
            "scorer",
            "repeat",
            name=op.f("uq_score_response_id_construct_key_construct_version_scorer_repeat"),
        ),
    )
    op.create_table(
        "rating",
        sa.Column("construct_key", sa.String(), nullable=False),
        sa.Column("construct_version", sa.Integer(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("value", sa.Float(), nullable=True),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("input_kind", sa.String(), nullable=True),
        sa.Column("active_seconds", sa.Float(), nullable=True),
        sa.Column("comment", sa.Text(), nullable=True),
        sa.Column("revealed", sa.JSON(), nullable=False),
        sa.Column("channel", sa.String(), nullable=False),
        sa.Column("external_id", sa.String(), nullable=True),
        sa.Column("idempotency_key", sa.String(), nullable=True),
        sa.Column("rules_hash", sa.String(), nullable=True),
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("assignment_id", sa.Integer(), nullable=False),
        sa.Column("config_hash", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "(status = 'rated') = (value IS NOT NULL)", name=op.f("ck_rating_value_or_status")
        ),
        sa.ForeignKeyConstraint(
            ["assignment_id"], ["assignment.id"], name=op.f("fk_rating_assignment_id_assignment")
        ),
        sa.ForeignKeyConstraint(
            ["construct_key", "construct_version"],
            ["construct.key", "construct.version"],
            name=op.f("fk_rating_construct_key_construct_version_construct"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rating")),
        sa.UniqueConstraint(
            "assignment_id",
            "construct_key",
            "revision",
            name=op.f("uq_rating_assignment_id_construct_key_revision"),
        ),
        sa.UniqueConstraint(
            "assignment_id", "idempotency_key", name=op.f("uq_rating_assignment_id_idempotency_key")
        ),
    )
    protect(FACTS)
