"""EM: the strict match that composed Answer Correctness takes in, as a metric of its own."""

from collections.abc import Iterable, Sequence

from sqlalchemy import insert, select

from judge.schedule.content import Place, pages
from study.campaign import Study
from study.nouns import Score, ScoreBase, table

SCORER = "EM"
CONSTRUCT = "AC"


def exact_match(response: str, references: Iterable[str]) -> bool:
    """Tell whether a response equals any reference answer, but for white space at both ends.

    Muhamed 2025 (arXiv 2506.20128), section 2.3: EM(r, g) is 1 if r = g, else 0, as strict
    equality of strings. White space at both ends is taken off, as in the prompts.

    Examples
    --------
    >>> exact_match("Paris ", ["Paris"]), exact_match("paris", ["Paris"])
    (True, False)
    """
    text = response.strip()
    return bool(text) and any(text == reference.strip() for reference in references)


def store_exact_match(study: Study, order: Sequence[Place]) -> dict[str, int]:
    """Store EM as a metric on AC: the scale's maximum for a match, its minimum otherwise.

    Scores named EM that the study holds already stay; those that differ are counted. A query
    without reference answers has no EM. Returns the counts `stored`, `held` and `differing`;
    nothing where the study has no construct AC.
    """
    scale = study.config.scale(CONSTRUCT, SCORER)
    if scale is None:
        return {}
    counts = {"stored": 0, "held": 0, "differing": 0}
    s = table(Score)
    for page in pages(study, order, None, texts=False):
        matches = {
            content.id: exact_match(content.text, content.references)
            for content in page.contents
            if content.references and content.wanted
        }
        with study.write() as connection:
            version = study.construct_versions(connection)[CONSTRUCT]
            held = {
                row.response_id: row.value
                for row in connection.execute(
                    select(s.c.response_id, s.c.value).where(
                        s.c.response_id.in_(list(matches)),
                        s.c.construct_key == CONSTRUCT,
                        s.c.construct_version == version,
                        s.c.scorer == SCORER,
                        s.c.repeat == 0,
                    )
                )
            }
            rows = []
            for response, match in matches.items():
                value = scale.max if match else scale.min
                if response in held:
                    counts["held" if held[response] == value else "differing"] += 1
                    continue
                score = ScoreBase(
                    construct_key=CONSTRUCT,
                    construct_version=version,
                    scorer=SCORER,
                    scorer_kind="metric",
                    value=value,
                    source="own",
                )
                rows.append({**score.model_dump(), "response_id": response})
            if rows:
                connection.execute(insert(s), rows)
                counts["stored"] += len(rows)
    return counts
