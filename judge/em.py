"""EM: the strict match that composed Answer Correctness takes in, as a metric of its own."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import insert, select
from sqlalchemy.exc import IntegrityError

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
    counts = Counter({"stored": 0, "held": 0, "differing": 0})
    for page in pages(study, order, None, texts=False):
        matches = {
            content.id: scale.max if exact_match(content.text, content.references) else scale.min
            for content in page.contents
            if content.references and content.wanted
        }
        try:
            counts.update(_stored(study, matches))
        except IntegrityError:
            # Another run stored the same scores at the same moment (PostgreSQL); now they are held.
            counts.update(_stored(study, matches))
    return dict(counts)


def _stored(study: Study, matches: Mapping[int, float]) -> dict[str, int]:
    s = table(Score)
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
        for response, value in matches.items():
            if response in held:
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
    same = sum(matches[response] == value for response, value in held.items())
    return {"stored": len(rows), "held": same, "differing": len(held) - same}
