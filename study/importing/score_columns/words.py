"""The words by which the names of columns tell whose scores they have, and what else they have.

Words are without accents and in lower case, in English, German, French, Spanish, Italian and
Portuguese; a name of several words is written with underscores.
"""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


LANGUAGE_MODELS = _words(
    "gpt chatgpt claude sonnet opus haiku gemini gemma llama mistral mixtral ministral qwen qwq "
    "deepseek phi grok nova command_r commandr kimi glm olmo nemotron falcon vicuna granite jamba "
    "prometheus selene"
)
"""Families of language models; a version may follow, as in gpt4o and llama3."""

NUMBERED_MODELS = _words("o1 o3 o4")
"""Models whose names are no more than a letter and a number."""

OF_JUDGES = (
    LANGUAGE_MODELS
    | NUMBERED_MODELS
    | _words(
        "llm llms ai ki ia autorater autograder autoeval geval g_eval ragas deepeval machine auto "
        "automatic automated automatisch maschine automatique automatico automatica model_graded"
    )
)
"""Words that only name machines."""

PERHAPS_OF_JUDGES = _words("judge judges richter juge juez giudice juiz")
"""Words for judges, which are people where another word says so: human_judge."""

OF_PEOPLE = _words(
    "human humans people person persons expert experts manual manually sme smes crowd crowdworker "
    "mturk turker turkers gold golden ground_truth groundtruth reference_label true_label "
    "clinician physician radiologist nurse doctor teacher specialist annotated_by rated_by "
    "labeled_by labelled_by reviewed_by graded_by coded_by assessed_by checked_by "
    "mensch menschen menschlich menschliche experte experten expertin manuell "
    "humain humaine humains expertes manuel manuelle "
    "humano humana humanos experto experta especialista umano umana umani esperto esperta"
)
"""Words that only name people."""

PERHAPS_OF_PEOPLE = _words(
    "rater raters annotator annotators reviewer reviewers reader readers grader graders labeler "
    "labelers labeller labellers coder coders assessor assessors worker workers "
    "bewerter bewerterin gutachter gutachterin annotatorin pruefer prufer "
    "annotateur annotatrice evaluateur correcteur relecteur "
    "anotador anotadora evaluador evaluadora revisor revisora "
    "annotatore valutatore valutatrice revisore avaliador avaliadora"
)
"""Words for raters, which are machines where another word says so: llm_rater."""

FILLERS = _words(
    "score scores rating ratings value values label labels grade grades verdict verdicts decision "
    "judgment judgments judgement evaluation eval evals result results assessment mark points "
    "feedback annotation annotations annotated column "
    "bewertung bewertungen note punkte punktzahl urteil wert "
    "jugement puntuacion puntaje calificacion valor nota notas voto voti punteggio giudizio "
    "valutazione avaliacao pontuacao"
)
"""Words of scores in general, which name neither a scorer nor a construct."""

GROUPS_OF_SCORES = _words("score scores feedback eval evals evaluation evaluations ratings")
"""First parts of the names under which tools export scores, as in scores.Factuality."""

NEVER_SCORES = _words(
    "id ids idx uuid guid hash url time times timestamp date duration latency runtime elapsed "
    "seconds secs sec ms minutes hours token tokens cost costs price usd eur confidence conf prob "
    "probability probabilities proba logprob logprobs perplexity count counts num length len words "
    "chars characters std sd stdev stderr se variance var seed temperature version age email "
    "weight weights year "
    "zeit dauer kosten anzahl laenge lange konfidenz duree temps cout confiance duracion tiempo "
    "coste costo confianza durata tempo fiducia duracao custo confianca"
)
"""Beside a word for judges or raters too, a column with one of these is not one of scores."""

RARELY_SCORES = _words(
    "execution run runs scan turn turns fold split batch page trial round step epoch line row rows "
    "position order group cluster session case patient sample item repeat attempt iteration shard "
    "number nr"
)
"""A column with one of these, and with no word for judges or raters, is not one of scores."""

REASONS = _words(
    "reason reasons reasoning rationale explanation explanations comment comments critique "
    "justification remark remarks why thoughts begrundung begruendung kommentar kommentare raison "
    "commentaire commentaires razon razones comentario comentarios justificacion motivo "
    "motivazione commento commenti justificativa"
)
"""A column with one of these has the words of a judge or rater, not the score."""

MEANS = _words("avg average mean mittelwert durchschnitt moyenne media promedio")

SUMMARIES = MEANS | _words("median sum consensus majority")
"""What several scorers gave together, where they have columns themselves."""

ABOUT_MEANS = _words("n min max minimum maximum range iqr mode")
"""Numbers that describe the scores of which a mean is beside them."""

CRITERIA = _words(
    "style tone depth breadth detail details format grammar spelling structure logic safety harm "
    "truth fact facts factual focus length recall precision overall total content context form "
    "flow voice taste humor humour bias trust use utility language citation citations source "
    "sources easy medium hard simple complex short long first second third last before after pre "
    "post old new early late past part section question questions answer answers response query "
    "task item test trial pass round run day week model system baseline control treatment left "
    "right top bottom good bad yes no true false english german french spanish italian other "
    "correct complete clear concise relevant helpful grounded faithful fluent coherent honest "
    "harmless readable useful accurate insight empathy sarcasm warmth politeness interest rigor "
    "rigour scope effort speed usage order math maths coding code reasoning writing reading "
    "knowledge science history law finance health sports politics"
)
"""Names of criteria and of other parts of a score, which are no persons."""

ENDINGS_OF_CRITERIA = (
    *("ity", "ness", "ance", "ence", "ancy", "ency", "acy", "cy", "ion", "ment", "ful", "ive"),
    *("able", "ible", "ing", "ism", "age", "ure", "ics", "heit", "keit", "ung", "ität", "té"),
)
"""Nouns and adjectives of criteria end in these, and few names of persons do."""

METRICS = _words(
    "em f1 bleu rouge rougel rouge1 rouge2 meteor chrf bertscore bleurt comet exact_match metric"
)
"""Names of scorers that are computed without a language model."""

EVALUATED = _words(
    "score eval evaluation faithfulness faithful groundedness grounded hallucination relevance "
    "relevancy relevant correctness coherence completeness conciseness helpfulness fluency "
    "accuracy precision recall similarity"
)
"""Words in the names that evaluation programs give to their scores."""

ADJUDICATED = _words("adjudicated adjudication consensus gold golden")
"""Names of scorers that decided between people, in a column of scorers."""

KINDS = {
    **dict.fromkeys(
        _words("human humans people person persons expert experts manual annotator annotators "
               "rater raters reviewer reviewers labeler labeller coder assessor crowd crowdworker "
               "crowdworkers crowd_worker crowd_workers crowdsourced crowdsourcing turker mturk "
               "worker workers user users customer customers client volunteer volunteers student "
               "students doctor doctors clinician clinicians physician physicians nurse nurses "
               "teacher teachers specialist sme smes professional lay layperson employee admin "
               "staff team internal author developer human_rater human_annotator human_expert "
               "human_judge human_reviewer domain_expert subject_matter_expert end_user "
               "mensch humain humano umano"),
        "human",
    ),
    **dict.fromkeys(
        _words("judge llm llms ai ki ia model machine auto automatic automated bot llm_judge "
               "llm_as_judge llm_as_a_judge llm_rater ai_judge language_model autorater maschine"),
        "judge",
    ),
    **dict.fromkeys(_words("metric metrics code heuristic"), "metric"),
    **dict.fromkeys(_words("adjudicated gold"), "adjudicated"),
}  # fmt: skip
"""Words in a column of kinds of scorers, to the kind."""

NUMBERED_PEOPLE = {"h": "human", "r": "rater", "a": "annotator", "e": "expert", "p": "participant"}
"""Letters that number people beside a judge, as h1, h2, to what they abbreviate."""

WHOLE_NAMES: dict[str, tuple[str, ...]] = {
    "id": (
        *("response_id", "id", "item_id", "run_id", "session_id", "sample_id", "trace_id"),
        *("record_id", "conversation_id", "case_id", "task_id", "uid", "example_id", "key"),
        *("doc_id", "document_id", "unit_id", "output_id", "answer_id", "message_id", "uuid"),
        *("item", "sample", "example", "case", "unit", "doc", "document"),
        *("text_id", "post_id", "entry_id", "instance_id", "segment_id", "instance", "segment"),
    ),
    "query": (
        *("query_id", "question_id", "prompt_id", "qid", "query", "question", "prompt"),
        *("user_input", "input", "inputs", "frage_id", "frage", "anfrage", "pregunta_id"),
        *("instruction", "pregunta", "consulta", "requete", "domanda_id", "domanda", "pergunta"),
        *("q", "topic_id", "topic"),
    ),
    "system": (
        *("system", "model", "system_name", "model_name", "system_id", "model_id", "sys"),
        *("answer_model", "response_model", "output_model", "generator", "generator_model"),
        *("candidate_model", "target_model", "rag_system", "answer_system", "system_under_test"),
        *("modell", "systeme", "modele", "sistema", "modelo", "modello", "run"),
    ),
    "construct": (
        *("construct", "construct_key", "criterion", "aspect", "dimension"),
        *("kriterium", "critere", "criterio"),
    ),
    "response": (
        *("response", "answer", "output", "outputs", "completion", "antwort", "ausgabe"),
        *("reponse", "respuesta", "risposta", "resposta", "actual_output"),
    ),
    "reference": ("references", "reference", "ground_truth", "gt_answer", "reference_answer",
                  "expected", "expected_output", "target", "referenz"),
    "passages": (
        *("passages", "contexts", "context", "retrieved_contexts", "retrieved_context"),
        *("documents", "retrieved_context_ids"),
    ),
    "index": (
        *("", "index", "unnamed:_0", "column_1", "row", "#", "n", "no", "nr", "lfd_nr"),
    ),
    "scorer": (
        *("scorer", "rater", "annotator", "judge", "rater_id", "annotator_id", "worker_id"),
        *("evaluator", "rater_name", "annotator_name", "reviewer", "reviewer_id", "grader"),
        *("evaluator_id", "evaluator_name", "reviewer_name", "grader_id", "grader_name"),
        *("labeler", "labeller", "labeler_id", "labeller_id", "labeler_name", "labeller_name"),
        *("coder", "coder_id", "coder_name", "assessor", "assessor_id", "assessor_name"),
        *("worker", "worker_name", "scored_by", "rated_by", "annotated_by", "labeled_by"),
        *("labelled_by", "reviewed_by", "graded_by", "evaluated_by", "judged_by", "coded_by"),
        *("assessed_by", "checked_by", "user", "user_name", "username", "user_id"),
        *("participant", "participant_id", "respondent", "respondent_id", "prolific_pid"),
    ),
    "scorer_kind": (
        *("scorer_kind", "kind", "rater_type", "annotator_type", "scorer_type", "evaluator_type"),
        *("rater_kind", "annotator_kind", "evaluator_kind", "reviewer_type", "judge_type"),
        *("source", "source_type", "type"),
    ),
    "metadata": (
        *("repeat", "inclusion_prob", "stratum", "response_words", "domain", "attributes", "error"),
    ),
}  # fmt: skip
"""Role to the names that a column may have as a whole, the clearest first."""

NAME_PEOPLE = _words(
    "user user_name username user_id participant participant_id respondent respondent_id "
    "prolific_pid"
)
"""Names of columns of scorers that are people, without a word for raters."""

PERHAPS_SYSTEMS = (
    *("retriever", "pipeline", "config", "configuration", "version", "variant", "method"),
    *("approach", "strategy", "setup", "condition", "engine", "chatbot", "bot", "assistant"),
)
"""Names of columns with systems where these differ in the rows of a query."""

PERHAPS_CONSTRUCTS = ("metric", "measure", "rubric")
"""Names of columns with constructs where several labels repeat."""

PERHAPS_QUERIES = (
    *("conversation_id", "session_id", "dialog_id", "dialogue_id", "thread_id", "chat_id"),
    *("doc_id", "document_id", "segment_id", "seg_id"),
)
"""Ids that several rows share, which are not independent; the likeliest first."""

VALUES = ("value", "score", "rating", "label", "grade")
"""Names of the value in a table with a row for each score."""

IDENTIFIES_FOR_SURE = ("response_id", "id", "item_id")
"""Names of ids that are refused, and not passed over, where they do not identify a row."""

CONSTRUCTS = {
    "qr": "QR", "question_relevance": "QR",
    "cc": "CC", "contextual_coherence": "CC",
    "id": "ID", "information_density": "ID",
    "ac": "AC", "answer_correctness": "AC",
    "ir": "IR", "information_recall": "IR",
    "retrieval": "retrieval",
}  # fmt: skip
"""Constructs of CCRS by their names, as in `study.settings.constructs`, which a test compares."""

ONLY_CONSTRUCT = "score"
"""The construct of a table that names none."""
