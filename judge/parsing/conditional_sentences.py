"""Words by which a sentence gives a score only under a condition, in common languages."""

import re

_WOULD = r"i(?:['’ ]d| would)"
CONDITION = re.compile(
    r"\b(?:if|unless|had (?:it|the|there)|were (?:it|the)|would have|could have|asks? (?:me|for)|"
    r"once|assuming|provided|supposing|otherwise|normally|in the absence of|used to|meant to|"
    rf"{_WOULD} love|as a start|in a better|"
    rf"with(?:out)? (?!it|this|that|them|doubt|hesitation|question)[a-z]+(?: [a-z]+)?,? {_WOULD}|"
    r"(?:correct|change|complete) [^,.]{1,40},? (?:and|then) (?:it|i)|"
    rf"(?:except|but) for [^,]{{1,40}},? {_WOULD}|"
    r"ignoring|without (?:the|that|this|its|these|those)|"
    # German, French, Spanish, Portuguese, Italian, Dutch, Polish, Swedish, Indonesian, Vietnamese
    r"wenn|falls|hätte|wäre|s'il|aurait|avec (?:des? |une? )?[a-zé]+,? je|si|se|hubiera|"
    r"(?:de|con|sin) [a-zñ]+(?: [a-zñ]+)?,? (?:le )?dar[íi]a|com [a-zç]+,? (?:eu )?daria|fosse|"
    r"als er|gdyby|om den|jika|nếu)\b|"
    r"\A\W*(?:fix|add|remove|for (?:style|fluency|clarity|grammar))\b|"
    r"如果|もし|если бы|\bбы ответ|olsayd|다면|होते तो|होता तो",
    re.IGNORECASE,
)
"""Words of a condition: "If it had sources, I would give it a 90"."""
