BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0004');
CREATE TABLE "assignment" (
	construct_keys JSON NOT NULL, 
	purpose TEXT NOT NULL, 
	position INTEGER NOT NULL, 
	repeat INTEGER NOT NULL, 
	channel VARCHAR NOT NULL, 
	inclusion_prob FLOAT NOT NULL, 
	stratum VARCHAR, 
	id INTEGER NOT NULL, 
	rater_id INTEGER, 
	response_id INTEGER NOT NULL, 
	leased_until DATETIME, 
	config_hash VARCHAR NOT NULL, 
	created_at DATETIME NOT NULL, 
	public_id VARCHAR NOT NULL, 
	replaces_id INTEGER, round INTEGER DEFAULT '0' NOT NULL, layout TEXT DEFAULT 'single' NOT NULL, released_at DATETIME, 
	CONSTRAINT pk_assignment PRIMARY KEY (id), 
	CONSTRAINT fk_assignment_rater_id_rater FOREIGN KEY(rater_id) REFERENCES rater (id), 
	CONSTRAINT fk_assignment_response_id_response FOREIGN KEY(response_id) REFERENCES response (id), 
	CONSTRAINT fk_assignment_replaces_id_assignment FOREIGN KEY(replaces_id) REFERENCES assignment (id)
);
INSERT INTO "assignment" VALUES('["AC", "IR"]','main',0,0,'own',0.5,'s',1,1,2,NULL,'x','2026-11-21 21:58:00.333170','8ed9680798fa816e27debcd56acbcecd',NULL,0,'single',NULL);
INSERT INTO "assignment" VALUES('["AC", "IR"]','training',0,0,'own',0.5,'s',2,1,1,NULL,'x','2026-11-21 21:58:00.333178','bc7fb309cf48b5702579070d602a6dd5',NULL,0,'single',NULL);
CREATE TABLE check_pair (
	id INTEGER NOT NULL, 
	original_id INTEGER NOT NULL, 
	damaged_id INTEGER NOT NULL, 
	construct_keys JSON NOT NULL, 
	damage VARCHAR NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_check_pair PRIMARY KEY (id), 
	CONSTRAINT fk_check_pair_damaged_id_response FOREIGN KEY(damaged_id) REFERENCES response (id), 
	CONSTRAINT fk_check_pair_original_id_response FOREIGN KEY(original_id) REFERENCES response (id), 
	CONSTRAINT uq_check_pair_original_id_damaged_id UNIQUE (original_id, damaged_id)
);
CREATE TABLE closing_answer (
	recognized TEXT NOT NULL, 
	comment TEXT, 
	id INTEGER NOT NULL, 
	rater_id INTEGER NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_closing_answer PRIMARY KEY (id), 
	CONSTRAINT fk_closing_answer_rater_id_rater FOREIGN KEY(rater_id) REFERENCES rater (id)
);
CREATE TABLE comparison (
	construct_key VARCHAR NOT NULL, 
	position INTEGER NOT NULL, 
	swapped BOOLEAN NOT NULL, 
	inclusion_prob FLOAT NOT NULL, 
	stratum VARCHAR, 
	id INTEGER NOT NULL, 
	public_id VARCHAR NOT NULL, 
	rater_id INTEGER NOT NULL, 
	query_id INTEGER NOT NULL, 
	response_a_id INTEGER NOT NULL, 
	response_b_id INTEGER NOT NULL, 
	opened_at DATETIME, 
	released_at DATETIME, 
	config_hash VARCHAR NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_comparison PRIMARY KEY (id), 
	CONSTRAINT fk_comparison_query_id_query FOREIGN KEY(query_id) REFERENCES "query" (id), 
	CONSTRAINT fk_comparison_rater_id_rater FOREIGN KEY(rater_id) REFERENCES rater (id), 
	CONSTRAINT fk_comparison_response_a_id_response FOREIGN KEY(response_a_id) REFERENCES response (id), 
	CONSTRAINT fk_comparison_response_b_id_response FOREIGN KEY(response_b_id) REFERENCES response (id), 
	CONSTRAINT uq_comparison_rater_id_pair UNIQUE (rater_id, response_a_id, response_b_id, construct_key)
);
CREATE TABLE consent (
	id INTEGER NOT NULL, 
	rater_id INTEGER NOT NULL, 
	text_hash VARCHAR NOT NULL, 
	agreed BOOLEAN NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_consent PRIMARY KEY (id), 
	CONSTRAINT fk_consent_rater_id_rater FOREIGN KEY(rater_id) REFERENCES rater (id)
);
CREATE TABLE construct (
	"key" VARCHAR NOT NULL, 
	name VARCHAR NOT NULL, 
	question TEXT NOT NULL, 
	scale_min FLOAT NOT NULL, 
	scale_max FLOAT NOT NULL, 
	scale_step FLOAT, 
	scale_level TEXT NOT NULL, 
	anchors JSON NOT NULL, 
	sees JSON NOT NULL, 
	rules JSON NOT NULL, 
	version INTEGER NOT NULL, 
	CONSTRAINT pk_construct PRIMARY KEY ("key", version)
);
INSERT INTO "construct" VALUES('QR','Question Relevance','How directly does the response address the question that was asked?',0.0,100.0,NULL,'interval','{"0": "completely irrelevant", "100": "perfectly relevant and directly answers the query"}','["question", "response"]','["Whether the answer is true does not matter here, only whether it answers.", "A refusal is a response: rate what it says, not whether it should have been given.", "A response in another language than the question is rated for its content."]',1);
INSERT INTO "construct" VALUES('CC','Contextual Coherence','Does the response follow from the passages, without contradicting them?',0.0,100.0,NULL,'interval','{"0": "completely incoherent or contradictory", "100": "perfectly coherent and consistent"}','["response", "context"]','["A statement that is true but not in the passages counts as unsupported.", "Irrelevant passages are no excuse: the response must still agree with them.", "A refusal is a response: rate what it says, not whether it should have been given."]',1);
INSERT INTO "construct" VALUES('ID','Information Density','Does the response say what is needed, neither too long nor too thin?',0.0,100.0,NULL,'interval','{"0": "either too verbose or uninformative", "100": "optimally concise and informative for the query"}','["question", "response", "context"]','["If the value is low, say in the comment: too long or too thin.", "A refusal is a response: rate what it says, not whether it should have been given."]',1);
INSERT INTO "construct" VALUES('AC','Answer Correctness','How correct is the response, compared with the reference answer?',0.0,100.0,NULL,'interval','{"0": "completely incorrect or contains significant factual errors", "100": "perfect factual accuracy (semantically equivalent to the ground truth)"}','["response", "context", "reference"]','["Follow the reference as written; if it seems wrong, flag it and still follow it.", "Other words for the same facts are as good.", "A response in another language than the question is rated for its content."]',1);
INSERT INTO "construct" VALUES('IR','Information Recall','How much of the essential information in the reference does the response give?',0.0,100.0,NULL,'interval','{"0": "no essential information from the ground truth is recalled", "100": "all essential information is fully captured"}','["response", "context", "reference"]','["Follow the reference as written; if it seems wrong, flag it and still follow it.", "Extra material neither adds nor takes away.", "A response in another language than the question is rated for its content."]',1);
CREATE TABLE decision (
	construct_version INTEGER NOT NULL, 
	revision INTEGER NOT NULL, 
	value FLOAT, 
	status TEXT NOT NULL, 
	reason TEXT, 
	input_kind VARCHAR, 
	active_seconds FLOAT, 
	wall_seconds FLOAT, 
	comment TEXT, 
	revealed JSON NOT NULL, 
	idempotency_key VARCHAR, 
	rules_hash VARCHAR, 
	id INTEGER NOT NULL, 
	comparison_id INTEGER NOT NULL, 
	construct_key VARCHAR NOT NULL, 
	config_hash VARCHAR NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_decision PRIMARY KEY (id), 
	CONSTRAINT ck_decision_value_or_status CHECK ((status = 'rated') = (value IS NOT NULL)), 
	CONSTRAINT fk_decision_comparison_id_comparison FOREIGN KEY(comparison_id) REFERENCES comparison (id), 
	CONSTRAINT fk_decision_construct_key_construct_version_construct FOREIGN KEY(construct_key, construct_version) REFERENCES construct ("key", version), 
	CONSTRAINT uq_decision_comparison_id_idempotency_key UNIQUE (comparison_id, idempotency_key), 
	CONSTRAINT uq_decision_comparison_id_revision UNIQUE (comparison_id, revision)
);
CREATE TABLE departure (
	id INTEGER NOT NULL, 
	rater_id INTEGER NOT NULL, 
	kind TEXT NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_departure PRIMARY KEY (id), 
	CONSTRAINT fk_departure_rater_id_rater FOREIGN KEY(rater_id) REFERENCES rater (id)
);
CREATE TABLE enrolment (
	id INTEGER NOT NULL, 
	link_id INTEGER NOT NULL, 
	rater_id INTEGER NOT NULL, 
	external_id TEXT, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_enrolment PRIMARY KEY (id), 
	CONSTRAINT fk_enrolment_link_id_enrolment_link FOREIGN KEY(link_id) REFERENCES enrolment_link (id), 
	CONSTRAINT fk_enrolment_rater_id_rater FOREIGN KEY(rater_id) REFERENCES rater (id), 
	CONSTRAINT uq_enrolment_link_id_external_id UNIQUE (link_id, external_id)
);
CREATE TABLE enrolment_link (
	name VARCHAR NOT NULL, 
	quota INTEGER NOT NULL, 
	queries_each INTEGER, 
	attributes JSON NOT NULL, 
	id INTEGER NOT NULL, 
	token_hash BLOB NOT NULL, 
	created_at DATETIME NOT NULL, 
	closed_at DATETIME, 
	CONSTRAINT pk_enrolment_link PRIMARY KEY (id), 
	CONSTRAINT uq_enrolment_link_name UNIQUE (name)
);
CREATE TABLE erasure (
	id INTEGER NOT NULL, 
	kind TEXT NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_erasure PRIMARY KEY (id)
);
CREATE TABLE expected_value (
	construct_key VARCHAR NOT NULL, 
	purpose TEXT NOT NULL, 
	low FLOAT NOT NULL, 
	high FLOAT NOT NULL, 
	explanation TEXT, 
	id INTEGER NOT NULL, 
	response_id INTEGER NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_expected_value PRIMARY KEY (id), 
	CONSTRAINT fk_expected_value_response_id_response FOREIGN KEY(response_id) REFERENCES response (id), 
	CONSTRAINT uq_expected_value_response_id_construct_key_purpose UNIQUE (response_id, construct_key, purpose)
);
CREATE TABLE imported_file (
	id INTEGER NOT NULL, 
	name VARCHAR NOT NULL, 
	sha256 VARCHAR NOT NULL, 
	importer VARCHAR NOT NULL, 
	options JSON NOT NULL, 
	counts JSON NOT NULL, 
	config_hash VARCHAR NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_imported_file PRIMARY KEY (id)
);
CREATE TABLE invitation (
	id INTEGER NOT NULL, 
	rater_id INTEGER NOT NULL, 
	token_hash BLOB NOT NULL, 
	created_at DATETIME NOT NULL, 
	used_at DATETIME, 
	revoked_at DATETIME, 
	CONSTRAINT pk_invitation PRIMARY KEY (id), 
	CONSTRAINT fk_invitation_rater_id_rater FOREIGN KEY(rater_id) REFERENCES rater (id)
);
CREATE TABLE judge_run (
	name VARCHAR NOT NULL, 
	engine VARCHAR NOT NULL, 
	model VARCHAR NOT NULL, 
	model_revision VARCHAR, 
	prompt_version VARCHAR NOT NULL, 
	prompt_hash VARCHAR NOT NULL, 
	decoding JSON NOT NULL, 
	seed INTEGER, 
	software JSON NOT NULL, 
	id INTEGER NOT NULL, 
	config_hash VARCHAR NOT NULL, 
	created_at DATETIME NOT NULL, endpoint VARCHAR, repeats INTEGER DEFAULT '1' NOT NULL, identity VARCHAR, observed JSON DEFAULT '{}' NOT NULL, 
	CONSTRAINT pk_judge_run PRIMARY KEY (id), 
	CONSTRAINT uq_judge_run_name UNIQUE (name)
);
INSERT INTO "judge_run" VALUES('judge-1','recorded','m',NULL,'p','h','{}',NULL,'{}',1,'x','2026-11-21 21:58:00.334411',NULL,1,NULL,'{}');
CREATE TABLE "judgment" (
	construct_key VARCHAR NOT NULL, 
	construct_version INTEGER NOT NULL, 
	repeat INTEGER NOT NULL, 
	attempt INTEGER NOT NULL, 
	value FLOAT, 
	missing_reason VARCHAR, 
	raw_answer TEXT, 
	distribution JSON, 
	prompt_tokens INTEGER, 
	completion_tokens INTEGER, 
	cached_tokens INTEGER, 
	milliseconds FLOAT, 
	id INTEGER NOT NULL, 
	run_id INTEGER NOT NULL, 
	response_id INTEGER NOT NULL, 
	created_at DATETIME NOT NULL, 
	rule VARCHAR, 
	parser_version VARCHAR, 
	finish_reason VARCHAR, 
	served_model VARCHAR, 
	fingerprint VARCHAR, 
	flags JSON DEFAULT '[]' NOT NULL, 
	reasoning_tokens INTEGER, 
	CONSTRAINT pk_judgment PRIMARY KEY (id), 
	CONSTRAINT fk_judgment_response_id_response FOREIGN KEY(response_id) REFERENCES response (id), 
	CONSTRAINT fk_judgment_run_id_judge_run FOREIGN KEY(run_id) REFERENCES judge_run (id), 
	CONSTRAINT ck_judgment_value_or_reason CHECK ((value IS NULL) = (missing_reason IS NOT NULL)), 
	CONSTRAINT fk_judgment_construct_key_construct_version_construct FOREIGN KEY(construct_key, construct_version) REFERENCES construct ("key", version), 
	CONSTRAINT uq_judgment_once UNIQUE (run_id, response_id, construct_key, construct_version, repeat, attempt)
);
INSERT INTO "judgment" VALUES('AC',1,0,1,NULL,'unparsed',NULL,NULL,NULL,NULL,NULL,NULL,1,1,2,'2026-11-21 21:58:00.334942',NULL,NULL,NULL,NULL,NULL,'[]',NULL);
INSERT INTO "judgment" VALUES('AC',1,0,2,70.0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,2,1,2,'2026-11-21 21:58:00.334944',NULL,NULL,NULL,NULL,NULL,'[]',NULL);
CREATE TABLE look (
	id INTEGER NOT NULL, 
	kind TEXT NOT NULL, 
	seen_in VARCHAR NOT NULL, 
	ratings INTEGER NOT NULL, 
	result JSON NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_look PRIMARY KEY (id)
);
CREATE TABLE opened_passage (
	id INTEGER NOT NULL, 
	assignment_id INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_opened_passage PRIMARY KEY (id), 
	CONSTRAINT fk_opened_passage_assignment_id_assignment FOREIGN KEY(assignment_id) REFERENCES assignment (id), 
	CONSTRAINT uq_opened_passage_assignment_id_position UNIQUE (assignment_id, position)
);
CREATE TABLE output (
	system VARCHAR NOT NULL, 
	revision INTEGER NOT NULL, 
	id INTEGER NOT NULL, 
	query_id INTEGER NOT NULL, 
	response_id INTEGER NOT NULL, 
	CONSTRAINT pk_output PRIMARY KEY (id), 
	CONSTRAINT fk_output_query_id_query FOREIGN KEY(query_id) REFERENCES "query" (id), 
	CONSTRAINT fk_output_response_id_response FOREIGN KEY(response_id) REFERENCES response (id), 
	CONSTRAINT uq_output_query_id_system_revision UNIQUE (query_id, system, revision)
);
INSERT INTO "output" VALUES('A',1,1,1,1);
INSERT INTO "output" VALUES('B',1,2,1,1);
INSERT INTO "output" VALUES('C',1,3,1,2);
CREATE TABLE owner_password (
	id INTEGER NOT NULL, 
	password_hash VARCHAR NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_owner_password PRIMARY KEY (id)
);
CREATE TABLE passage (
	text TEXT NOT NULL, 
	id INTEGER NOT NULL, 
	content_hash BLOB NOT NULL, 
	CONSTRAINT pk_passage PRIMARY KEY (id), 
	CONSTRAINT uq_passage_content_hash UNIQUE (content_hash)
);
CREATE TABLE pause (
	id INTEGER NOT NULL, 
	paused BOOLEAN NOT NULL, 
	message TEXT, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_pause PRIMARY KEY (id)
);
CREATE TABLE preference (
	construct_key VARCHAR NOT NULL, 
	construct_version INTEGER NOT NULL, 
	scorer VARCHAR NOT NULL, 
	scorer_kind TEXT NOT NULL, 
	repeat INTEGER NOT NULL, 
	value FLOAT, 
	missing_reason VARCHAR, 
	id INTEGER NOT NULL, 
	query_id INTEGER NOT NULL, 
	response_a_id INTEGER NOT NULL, 
	response_b_id INTEGER NOT NULL, 
	file_id INTEGER, 
	CONSTRAINT pk_preference PRIMARY KEY (id), 
	CONSTRAINT ck_preference_value_or_reason CHECK ((value IS NULL) = (missing_reason IS NOT NULL)), 
	CONSTRAINT fk_preference_construct_key_construct_version_construct FOREIGN KEY(construct_key, construct_version) REFERENCES construct ("key", version), 
	CONSTRAINT fk_preference_file_id_imported_file FOREIGN KEY(file_id) REFERENCES imported_file (id), 
	CONSTRAINT fk_preference_query_id_query FOREIGN KEY(query_id) REFERENCES "query" (id), 
	CONSTRAINT fk_preference_response_a_id_response FOREIGN KEY(response_a_id) REFERENCES response (id), 
	CONSTRAINT fk_preference_response_b_id_response FOREIGN KEY(response_b_id) REFERENCES response (id), 
	CONSTRAINT uq_preference_response_a_id_response_b_id_construct_key_construct_version_scorer_repeat UNIQUE (response_a_id, response_b_id, construct_key, construct_version, scorer, repeat)
);
INSERT INTO "preference" VALUES('AC',1,'anna','human',0,1.0,NULL,1,1,2,1,NULL);
CREATE TABLE "query" (
	"key" VARCHAR NOT NULL, 
	text TEXT NOT NULL, 
	"references" JSON NOT NULL, 
	attributes JSON NOT NULL, 
	id INTEGER NOT NULL, 
	CONSTRAINT pk_query PRIMARY KEY (id), 
	CONSTRAINT uq_query_key UNIQUE ("key")
);
INSERT INTO "query" VALUES('q1','?','["!"]','{}',1);
CREATE TABLE "rater" (
	code VARCHAR NOT NULL, 
	attributes JSON NOT NULL, 
	id INTEGER NOT NULL, 
	public_id VARCHAR NOT NULL, 
	CONSTRAINT pk_rater PRIMARY KEY (id), 
	CONSTRAINT uq_rater_code UNIQUE (code)
);
INSERT INTO "rater" VALUES('anna','{}',1,'bf699be6f09c24ea79f376d78ae0c660');
CREATE TABLE rating (
	construct_key VARCHAR NOT NULL, 
	construct_version INTEGER NOT NULL, 
	revision INTEGER NOT NULL, 
	value FLOAT, 
	status TEXT NOT NULL, 
	reason TEXT, 
	input_kind VARCHAR, 
	active_seconds FLOAT, 
	comment TEXT, 
	revealed JSON NOT NULL, 
	channel VARCHAR NOT NULL, 
	external_id VARCHAR, 
	idempotency_key VARCHAR, 
	rules_hash VARCHAR, 
	id INTEGER NOT NULL, 
	assignment_id INTEGER NOT NULL, 
	config_hash VARCHAR NOT NULL, 
	created_at DATETIME NOT NULL, after_reveal BOOLEAN DEFAULT 0 NOT NULL, seen_more BOOLEAN DEFAULT 0 NOT NULL, late BOOLEAN DEFAULT 0 NOT NULL, flags JSON DEFAULT '[]' NOT NULL, wall_seconds FLOAT, 
	CONSTRAINT pk_rating PRIMARY KEY (id), 
	CONSTRAINT ck_rating_value_or_status CHECK ((status = 'rated') = (value IS NOT NULL)), 
	CONSTRAINT fk_rating_assignment_id_assignment FOREIGN KEY(assignment_id) REFERENCES assignment (id), 
	CONSTRAINT fk_rating_construct_key_construct_version_construct FOREIGN KEY(construct_key, construct_version) REFERENCES construct ("key", version), 
	CONSTRAINT uq_rating_assignment_id_construct_key_revision UNIQUE (assignment_id, construct_key, revision), 
	CONSTRAINT uq_rating_assignment_id_idempotency_key UNIQUE (assignment_id, idempotency_key)
);
INSERT INTO "rating" VALUES('AC',1,1,10.0,'rated',NULL,NULL,NULL,NULL,'[]','own',NULL,NULL,NULL,1,1,'x','2026-11-21 21:58:00.333832',0,0,0,'[]',NULL);
INSERT INTO "rating" VALUES('AC',1,2,20.0,'rated',NULL,NULL,NULL,NULL,'[]','own',NULL,NULL,NULL,2,1,'x','2026-11-21 21:58:00.333834',0,0,0,'[]',NULL);
INSERT INTO "rating" VALUES('IR',1,1,NULL,'skipped',NULL,NULL,NULL,NULL,'[]','own',NULL,NULL,NULL,3,1,'x','2026-11-21 21:58:00.333836',0,0,0,'[]',NULL);
INSERT INTO "rating" VALUES('AC',1,1,99.0,'rated',NULL,NULL,NULL,NULL,'[]','own',NULL,NULL,NULL,4,2,'x','2026-11-21 21:58:00.333837',0,0,0,'[]',NULL);
CREATE TABLE reading (
	revision INTEGER NOT NULL, 
	parser_version VARCHAR NOT NULL, 
	value FLOAT, 
	missing_reason VARCHAR, 
	rule VARCHAR, 
	id INTEGER NOT NULL, 
	judgment_id INTEGER NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_reading PRIMARY KEY (id), 
	CONSTRAINT ck_reading_value_or_reason CHECK ((value IS NULL) = (missing_reason IS NOT NULL)), 
	CONSTRAINT fk_reading_judgment_id_judgment FOREIGN KEY(judgment_id) REFERENCES judgment (id), 
	CONSTRAINT uq_reading_judgment_id_revision UNIQUE (judgment_id, revision)
);
CREATE TABLE response (
	"key" VARCHAR NOT NULL, 
	version INTEGER NOT NULL, 
	text TEXT NOT NULL, 
	id INTEGER NOT NULL, 
	query_id INTEGER NOT NULL, 
	content_hash BLOB NOT NULL, 
	context_hash BLOB, role TEXT DEFAULT 'answer' NOT NULL, 
	CONSTRAINT pk_response PRIMARY KEY (id), 
	CONSTRAINT fk_response_query_id_query FOREIGN KEY(query_id) REFERENCES "query" (id), 
	CONSTRAINT uq_response_key_version UNIQUE ("key", version), 
	CONSTRAINT uq_response_query_id_content_hash UNIQUE (query_id, content_hash)
);
INSERT INTO "response" VALUES('r1',1,'yes',1,1,X'31313131313131313131313131313131',NULL,'answer');
INSERT INTO "response" VALUES('r2',1,'no',2,1,X'32323232323232323232323232323232',NULL,'answer');
CREATE TABLE response_alias (
	"key" VARCHAR NOT NULL, 
	response_id INTEGER NOT NULL, 
	CONSTRAINT pk_response_alias PRIMARY KEY ("key"), 
	CONSTRAINT fk_response_alias_response_id_response FOREIGN KEY(response_id) REFERENCES response (id)
);
CREATE TABLE response_passage (
	response_id INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	passage_id INTEGER NOT NULL, 
	document VARCHAR, 
	CONSTRAINT pk_response_passage PRIMARY KEY (response_id, position), 
	CONSTRAINT fk_response_passage_passage_id_passage FOREIGN KEY(passage_id) REFERENCES passage (id), 
	CONSTRAINT fk_response_passage_response_id_response FOREIGN KEY(response_id) REFERENCES response (id)
);
CREATE TABLE reveal (
	id INTEGER NOT NULL, 
	assignment_id INTEGER NOT NULL, 
	stage INTEGER NOT NULL, 
	fields JSON NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_reveal PRIMARY KEY (id), 
	CONSTRAINT fk_reveal_assignment_id_assignment FOREIGN KEY(assignment_id) REFERENCES assignment (id), 
	CONSTRAINT uq_reveal_assignment_id_stage UNIQUE (assignment_id, stage)
);
CREATE TABLE score (
	construct_key VARCHAR NOT NULL, 
	construct_version INTEGER NOT NULL, 
	scorer VARCHAR NOT NULL, 
	scorer_kind TEXT NOT NULL, 
	repeat INTEGER NOT NULL, 
	value FLOAT, 
	missing_reason VARCHAR, 
	inclusion_prob FLOAT NOT NULL, 
	stratum VARCHAR, 
	source VARCHAR, 
	id INTEGER NOT NULL, 
	response_id INTEGER NOT NULL, 
	file_id INTEGER, rule VARCHAR, layout TEXT, 
	CONSTRAINT pk_score PRIMARY KEY (id), 
	CONSTRAINT ck_score_value_or_reason CHECK ((value IS NULL) = (missing_reason IS NOT NULL)), 
	CONSTRAINT fk_score_construct_key_construct_version_construct FOREIGN KEY(construct_key, construct_version) REFERENCES construct ("key", version), 
	CONSTRAINT fk_score_file_id_imported_file FOREIGN KEY(file_id) REFERENCES imported_file (id), 
	CONSTRAINT fk_score_response_id_response FOREIGN KEY(response_id) REFERENCES response (id), 
	CONSTRAINT uq_score_response_id_construct_key_construct_version_scorer_repeat UNIQUE (response_id, construct_key, construct_version, scorer, repeat)
);
INSERT INTO "score" VALUES('AC',1,'EM','metric',0,100.0,NULL,1.0,NULL,'file',1,1,NULL,NULL,NULL);
CREATE TABLE study_identity (
	id INTEGER NOT NULL, 
	public_id VARCHAR NOT NULL, 
	CONSTRAINT pk_study_identity PRIMARY KEY (id)
);
INSERT INTO "study_identity" VALUES(1,'463fc8ece42fbc7c95a045a3d4a041db');
CREATE INDEX ix_output_response_id ON output (response_id);
CREATE INDEX ix_preference_query_id ON preference (query_id);
CREATE INDEX ix_response_alias_response_id ON response_alias (response_id);
CREATE INDEX ix_response_passage_passage_id ON response_passage (passage_id);
CREATE TRIGGER construct_refuses_update BEFORE UPDATE ON "construct" BEGIN SELECT RAISE(ABORT, 'construct is append-only: a change is a new row'); END;
CREATE TRIGGER construct_refuses_delete BEFORE DELETE ON "construct" BEGIN SELECT RAISE(ABORT, 'construct is append-only: a change is a new row'); END;
CREATE TRIGGER imported_file_refuses_update BEFORE UPDATE ON "imported_file" BEGIN SELECT RAISE(ABORT, 'imported_file is append-only: a change is a new row'); END;
CREATE TRIGGER imported_file_refuses_delete BEFORE DELETE ON "imported_file" BEGIN SELECT RAISE(ABORT, 'imported_file is append-only: a change is a new row'); END;
CREATE TRIGGER judge_run_refuses_update BEFORE UPDATE ON "judge_run" BEGIN SELECT RAISE(ABORT, 'judge_run is append-only: a change is a new row'); END;
CREATE TRIGGER judge_run_refuses_delete BEFORE DELETE ON "judge_run" BEGIN SELECT RAISE(ABORT, 'judge_run is append-only: a change is a new row'); END;
CREATE TRIGGER output_refuses_update BEFORE UPDATE ON "output" BEGIN SELECT RAISE(ABORT, 'output is append-only: a change is a new row'); END;
CREATE TRIGGER output_refuses_delete BEFORE DELETE ON "output" BEGIN SELECT RAISE(ABORT, 'output is append-only: a change is a new row'); END;
CREATE TRIGGER passage_refuses_update BEFORE UPDATE ON "passage" BEGIN SELECT RAISE(ABORT, 'passage is append-only: a change is a new row'); END;
CREATE TRIGGER passage_refuses_delete BEFORE DELETE ON "passage" BEGIN SELECT RAISE(ABORT, 'passage is append-only: a change is a new row'); END;
CREATE TRIGGER preference_refuses_update BEFORE UPDATE ON "preference" BEGIN SELECT RAISE(ABORT, 'preference is append-only: a change is a new row'); END;
CREATE TRIGGER preference_refuses_delete BEFORE DELETE ON "preference" BEGIN SELECT RAISE(ABORT, 'preference is append-only: a change is a new row'); END;
CREATE TRIGGER query_refuses_update BEFORE UPDATE ON "query" BEGIN SELECT RAISE(ABORT, 'query is append-only: a change is a new row'); END;
CREATE TRIGGER query_refuses_delete BEFORE DELETE ON "query" BEGIN SELECT RAISE(ABORT, 'query is append-only: a change is a new row'); END;
CREATE TRIGGER rating_refuses_update BEFORE UPDATE ON "rating" BEGIN SELECT RAISE(ABORT, 'rating is append-only: a change is a new row'); END;
CREATE TRIGGER rating_refuses_delete BEFORE DELETE ON "rating" BEGIN SELECT RAISE(ABORT, 'rating is append-only: a change is a new row'); END;
CREATE TRIGGER response_refuses_update BEFORE UPDATE ON "response" BEGIN SELECT RAISE(ABORT, 'response is append-only: a change is a new row'); END;
CREATE TRIGGER response_refuses_delete BEFORE DELETE ON "response" BEGIN SELECT RAISE(ABORT, 'response is append-only: a change is a new row'); END;
CREATE TRIGGER response_alias_refuses_update BEFORE UPDATE ON "response_alias" BEGIN SELECT RAISE(ABORT, 'response_alias is append-only: a change is a new row'); END;
CREATE TRIGGER response_alias_refuses_delete BEFORE DELETE ON "response_alias" BEGIN SELECT RAISE(ABORT, 'response_alias is append-only: a change is a new row'); END;
CREATE TRIGGER response_passage_refuses_update BEFORE UPDATE ON "response_passage" BEGIN SELECT RAISE(ABORT, 'response_passage is append-only: a change is a new row'); END;
CREATE TRIGGER response_passage_refuses_delete BEFORE DELETE ON "response_passage" BEGIN SELECT RAISE(ABORT, 'response_passage is append-only: a change is a new row'); END;
CREATE TRIGGER score_refuses_update BEFORE UPDATE ON "score" BEGIN SELECT RAISE(ABORT, 'score is append-only: a change is a new row'); END;
CREATE TRIGGER score_refuses_delete BEFORE DELETE ON "score" BEGIN SELECT RAISE(ABORT, 'score is append-only: a change is a new row'); END;
CREATE UNIQUE INDEX ix_judge_run_identity ON judge_run (identity);
CREATE INDEX ix_judgment_response_id ON judgment (response_id);
CREATE TRIGGER judgment_refuses_update BEFORE UPDATE ON "judgment" BEGIN SELECT RAISE(ABORT, 'judgment is append-only: a change is a new row'); END;
CREATE TRIGGER judgment_refuses_delete BEFORE DELETE ON "judgment" BEGIN SELECT RAISE(ABORT, 'judgment is append-only: a change is a new row'); END;
CREATE TRIGGER reading_refuses_update BEFORE UPDATE ON "reading" BEGIN SELECT RAISE(ABORT, 'reading is append-only: a change is a new row'); END;
CREATE TRIGGER reading_refuses_delete BEFORE DELETE ON "reading" BEGIN SELECT RAISE(ABORT, 'reading is append-only: a change is a new row'); END;
CREATE UNIQUE INDEX ix_rater_public_id ON rater (public_id);
CREATE INDEX ix_assignment_response_id ON assignment (response_id);
CREATE UNIQUE INDEX ix_assignment_public_id ON assignment (public_id);
CREATE INDEX ix_assignment_rater_id ON assignment (rater_id);
CREATE UNIQUE INDEX ix_assignment_replaces_id ON assignment (replaces_id);
CREATE INDEX ix_invitation_rater_id ON invitation (rater_id);
CREATE UNIQUE INDEX ix_invitation_token_hash ON invitation (token_hash);
CREATE INDEX ix_closing_answer_rater_id ON closing_answer (rater_id);
CREATE TRIGGER reveal_refuses_update BEFORE UPDATE ON "reveal" BEGIN SELECT RAISE(ABORT, 'reveal is append-only: a change is a new row'); END;
CREATE TRIGGER reveal_refuses_delete BEFORE DELETE ON "reveal" BEGIN SELECT RAISE(ABORT, 'reveal is append-only: a change is a new row'); END;
CREATE TRIGGER opened_passage_refuses_update BEFORE UPDATE ON "opened_passage" BEGIN SELECT RAISE(ABORT, 'opened_passage is append-only: a change is a new row'); END;
CREATE TRIGGER opened_passage_refuses_delete BEFORE DELETE ON "opened_passage" BEGIN SELECT RAISE(ABORT, 'opened_passage is append-only: a change is a new row'); END;
CREATE TRIGGER closing_answer_refuses_update BEFORE UPDATE ON "closing_answer" BEGIN SELECT RAISE(ABORT, 'closing_answer is append-only: a change is a new row'); END;
CREATE TRIGGER closing_answer_refuses_delete BEFORE DELETE ON "closing_answer" BEGIN SELECT RAISE(ABORT, 'closing_answer is append-only: a change is a new row'); END;
CREATE INDEX ix_check_pair_damaged_id ON check_pair (damaged_id);
CREATE UNIQUE INDEX ix_comparison_public_id ON comparison (public_id);
CREATE INDEX ix_comparison_query_id ON comparison (query_id);
CREATE INDEX ix_comparison_rater_id ON comparison (rater_id);
CREATE INDEX ix_consent_rater_id ON consent (rater_id);
CREATE UNIQUE INDEX ix_enrolment_link_token_hash ON enrolment_link (token_hash);
CREATE INDEX ix_enrolment_link_id ON enrolment (link_id);
CREATE UNIQUE INDEX ix_enrolment_rater_id ON enrolment (rater_id);
CREATE INDEX ix_departure_rater_id ON departure (rater_id);
CREATE TRIGGER expected_value_refuses_update BEFORE UPDATE ON "expected_value" BEGIN SELECT RAISE(ABORT, 'expected_value is append-only: a change is a new row'); END;
CREATE TRIGGER expected_value_refuses_delete BEFORE DELETE ON "expected_value" BEGIN SELECT RAISE(ABORT, 'expected_value is append-only: a change is a new row'); END;
CREATE TRIGGER check_pair_refuses_update BEFORE UPDATE ON "check_pair" BEGIN SELECT RAISE(ABORT, 'check_pair is append-only: a change is a new row'); END;
CREATE TRIGGER check_pair_refuses_delete BEFORE DELETE ON "check_pair" BEGIN SELECT RAISE(ABORT, 'check_pair is append-only: a change is a new row'); END;
CREATE TRIGGER decision_refuses_update BEFORE UPDATE ON "decision" BEGIN SELECT RAISE(ABORT, 'decision is append-only: a change is a new row'); END;
CREATE TRIGGER decision_refuses_delete BEFORE DELETE ON "decision" BEGIN SELECT RAISE(ABORT, 'decision is append-only: a change is a new row'); END;
CREATE TRIGGER consent_refuses_update BEFORE UPDATE ON "consent" BEGIN SELECT RAISE(ABORT, 'consent is append-only: a change is a new row'); END;
CREATE TRIGGER consent_refuses_delete BEFORE DELETE ON "consent" BEGIN SELECT RAISE(ABORT, 'consent is append-only: a change is a new row'); END;
CREATE TRIGGER departure_refuses_update BEFORE UPDATE ON "departure" BEGIN SELECT RAISE(ABORT, 'departure is append-only: a change is a new row'); END;
CREATE TRIGGER departure_refuses_delete BEFORE DELETE ON "departure" BEGIN SELECT RAISE(ABORT, 'departure is append-only: a change is a new row'); END;
CREATE TRIGGER pause_refuses_update BEFORE UPDATE ON "pause" BEGIN SELECT RAISE(ABORT, 'pause is append-only: a change is a new row'); END;
CREATE TRIGGER pause_refuses_delete BEFORE DELETE ON "pause" BEGIN SELECT RAISE(ABORT, 'pause is append-only: a change is a new row'); END;
CREATE TRIGGER look_refuses_update BEFORE UPDATE ON "look" BEGIN SELECT RAISE(ABORT, 'look is append-only: a change is a new row'); END;
CREATE TRIGGER look_refuses_delete BEFORE DELETE ON "look" BEGIN SELECT RAISE(ABORT, 'look is append-only: a change is a new row'); END;
CREATE TRIGGER erasure_refuses_update BEFORE UPDATE ON "erasure" BEGIN SELECT RAISE(ABORT, 'erasure is append-only: a change is a new row'); END;
CREATE TRIGGER erasure_refuses_delete BEFORE DELETE ON "erasure" BEGIN SELECT RAISE(ABORT, 'erasure is append-only: a change is a new row'); END;
CREATE TRIGGER study_identity_refuses_update BEFORE UPDATE ON "study_identity" BEGIN SELECT RAISE(ABORT, 'study_identity is append-only: a change is a new row'); END;
CREATE TRIGGER study_identity_refuses_delete BEFORE DELETE ON "study_identity" BEGIN SELECT RAISE(ABORT, 'study_identity is append-only: a change is a new row'); END;
CREATE TRIGGER enrolment_refuses_update BEFORE UPDATE ON "enrolment" BEGIN SELECT RAISE(ABORT, 'enrolment is append-only: a change is a new row'); END;
CREATE TRIGGER enrolment_refuses_delete BEFORE DELETE ON "enrolment" BEGIN SELECT RAISE(ABORT, 'enrolment is append-only: a change is a new row'); END;
CREATE TRIGGER owner_password_refuses_update BEFORE UPDATE ON "owner_password" BEGIN SELECT RAISE(ABORT, 'owner_password is append-only: a change is a new row'); END;
CREATE TRIGGER owner_password_refuses_delete BEFORE DELETE ON "owner_password" BEGIN SELECT RAISE(ABORT, 'owner_password is append-only: a change is a new row'); END;
COMMIT;
