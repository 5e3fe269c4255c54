"""Words with a known number: lists of words for judgments, words that bring their number along
("4 - good", "good (4)", "4 stars", ★★★★☆), and letters as school grades, of which A is the best.
"""

import re
from collections.abc import Collection, Iterable

# From the lowest to the highest; a comma separates words of one value. Of the lists that contain
# the words of a column the shortest is used, and of equally long ones the first.
WORDS_BY_VALUE = """
fail, failed, fails, failure, failing, not passed, did not pass | pass, passed, passes, passing
false | true
no, n | yes, y
f | t
f | p
i | c
incorrect, not correct, wrong | correct
wrong | right
bad | good
bad, not ok, not okay, nok | ok, okay
not good | good
reject, rejected | accept, accepted, approve, approved
unacceptable, not acceptable, not accepted | acceptable, accepted
disapprove, disapproved, not approved, denied, decline, declined | approve, approved
irrelevant, not relevant, nonrelevant, unrelated | relevant
unsupported, not supported, refuted | supported
unfaithful, not faithful | faithful
ungrounded, not grounded | grounded
hallucinated, hallucination, hallucinating | factual, not hallucinated, no hallucination, grounded, faithful
nonfactual, not factual, unfactual, inaccurate, not accurate | factual, accurate
inconsistent, not consistent | consistent
incomplete, not complete | complete
invalid, not valid | valid
incoherent, not coherent | coherent
unhelpful, not helpful, nothelpful | helpful
not useful, useless | useful
unsafe, not safe | safe
harmful | harmless, not harmful, unharmful
toxic | nontoxic, not toxic
negative, neg | positive, pos
- | +
thumbs down, thumbdown, thumb down, 👎 | thumbs up, thumbup, thumb up, 👍
down, downvote, downvoted, thumbs down | up, upvote, upvoted, thumbs up
dislike, disliked | like, liked
❌, ✗, ✘, ✖, ☒ | ✅, ✓, ✔, ☑
unsatisfied, dissatisfied, not satisfied | satisfied
disagree | agree
low | high
not met, unmet | met
does not meet, doesn't meet, do not meet, did not meet, not met, unmet | meets, meet, met
does not meet expectations, below expectations, not meeting expectations | meets expectations, meeting expectations
insufficient, not sufficient | sufficient
inadequate, not adequate | adequate
inappropriate, not appropriate | appropriate
unsuitable, not suitable | suitable
incorrectly answered, wrongly answered | correctly answered
unreliable, not reliable | reliable
untrue, not true | true
noncompliant, not compliant | compliant
unsatisfactory, not satisfactory | satisfactory
improper, not proper | proper
disallowed, not allowed, forbidden | allowed
not resolved, unresolved | resolved
not solved, unsolved | solved
unsuccessful, not successful, failure | successful, success
nein | ja
non | oui
no | sí, si, sì
não, nao | sim
nee | ja
schlecht | gut
slecht | goed
malo, mala, mal | bueno, buena, bien
mau, má, ruim | bom, boa
mauvais, mauvaise | bon, bonne
cattivo, cattiva | buono, buona
falsch | richtig
falsch | wahr
unwahr | wahr
unrichtig, nicht richtig | richtig
inkorrekt, nicht korrekt | korrekt
nicht zutreffend, unzutreffend, trifft nicht zu | zutreffend, trifft zu
ungenügend, nicht genügend | genügend
unzureichend, nicht ausreichend | ausreichend
ungeeignet, nicht geeignet | geeignet
nicht erfüllt, unerfüllt | erfüllt
unzufrieden, nicht zufrieden | zufrieden
nicht bestanden, durchgefallen | bestanden
abgelehnt | akzeptiert, angenommen
inakzeptabel, nicht akzeptabel | akzeptabel
falso, falsa | vero, vera, verdadero, verdadera, verdadeiro, verdadeira
faux, fausse | vrai, vraie
incorrecto, incorrecta | correcto, correcta
incorreto, incorreta | correto, correta
incorrect, incorrecte | correct, correcte
errado, errada | certo, certa
errado, errada | correto, correta
errato, errata | corretto, corretta
errato, errata | giusto, giusta
sbagliato, sbagliata | giusto, giusta
sbagliato, sbagliata | corretto, corretta
scorretto, scorretta, non corretto, non corretta | corretto, corretta
no correcto, no correcta | correcto, correcta
equivocado, equivocada | correcto, correcta
inadecuado, inadecuada | adecuado, adecuada
insuficiente, no suficiente | suficiente
insuffisant, insuffisante | suffisant, suffisante
insufficiente | sufficiente
inadéquat, inadéquate | adéquat, adéquate
inadeguato, inadeguata | adeguato, adeguata
inadequado, inadequada | adequado, adequada
inaceptable, no aceptable | aceptable
inacceptable | acceptable
inaccettabile | accettabile
inaceitável, inaceitavel | aceitável, aceitavel
rechazado, rechazada | aceptado, aceptada
rejeté, rejetée, refusé, refusée | accepté, acceptée
rifiutato, rifiutata | accettato, accettata
rejeitado, rejeitada | aceito, aceita, aceite
no cumple | cumple
non conforme | conforme
não conforme | conforme
suspenso, reprobado, reprobada | aprobado, aprobada
reprovado, reprovada | aprovado, aprovada
respinto, bocciato, non superato | superato, promosso
échec, échoué | réussi, réussite
onjuist, niet juist | juist
fout | goed
fout | juist
onwaar | waar
onvoldoende | voldoende
bad | ok, okay, average, acceptable, neutral, fair, mediocre | good
incorrect, wrong | partially correct, partial, partly correct, partially, partly | correct, right
fail, failed | partial, partially, partly, partial pass, partially passed, borderline | pass, passed
no, n | partially, partly, partial, somewhat, maybe, perhaps, m | yes, y
false | partially, partly, partial, partially true, partly true, mixed | true
irrelevant, not relevant, nonrelevant | partially relevant, partly relevant, somewhat relevant, partial, marginally relevant | relevant
irrelevant, not relevant, nonrelevant | partially relevant, partly relevant, somewhat relevant, partial, marginally relevant | highly relevant, very relevant
not relevant, irrelevant | relevant | highly relevant, very relevant
unsupported, not supported | partially supported, partly supported, partial | supported, fully supported
no support | partial support | full support
ungrounded, not grounded | partially grounded, partly grounded, partial | grounded, fully grounded
unfaithful, not faithful | partially faithful, partly faithful, partial | faithful, fully faithful
unhelpful, not helpful | somewhat helpful, partially helpful, neutral | helpful, very helpful
incomplete | partially complete, partially, partial, partly complete | complete
not met, unmet | partially met, partly met, partial | met, fully met
unsafe | borderline, controversial | safe
reject, rejected | revise, borderline, major revision | accept, accepted
negative, neg | neutral, mixed, indeterminate, inconclusive, ind, indet, neu | positive, pos
thumbs down, 👎 | neutral, 😐 | thumbs up, 👍
contradiction, contradicted, contradicts | neutral | entailment, entailed, entails
refuted, refutes | not enough info, not enough information, nei | supported, supports
disagree | neutral, neither | agree
low | medium, mid, moderate, med | high
l | m | h
poor | fair, average, ok, okay | good
worse | same, equal | better
below expectations, does not meet expectations | meets expectations | exceeds expectations, above expectations
does not meet, not met, unmet | partially meets, partly meets, partially met, partly met | meets, fully meets, met
insufficient | partially sufficient, borderline | sufficient
inadequate | partially adequate, borderline | adequate
schlecht | mittel, ok, okay, durchschnittlich | gut
malo, mala, mal | regular, aceptable | bueno, buena, bien
mauvais, mauvaise | moyen, moyenne, passable | bon, bonne
cattivo, cattiva, scarso | medio, sufficiente, discreto | buono, buona
mau, má, ruim | regular, médio, razoável | bom, boa
incorrecto, incorrecta | parcialmente correcto, parcialmente correcta, parcial | correcto, correcta
incorreto, incorreta, errado | parcialmente correto, parcialmente correta, parcial | correto, correta, certo
incorrect, incorrecte, faux | partiellement correct, partiellement correcte, partiel | correct, correcte
errato, errata, sbagliato, scorretto | parzialmente corretto, parzialmente corretta, parziale | corretto, corretta, giusto
falso | parcialmente verdadero, parcialmente | verdadero
no | parcialmente, en parte | sí, si
non | partiellement, en partie | oui
no | parzialmente, in parte | sì, si
não, nao | parcialmente, em parte | sim
falsch | teilweise richtig, teilweise | richtig
nein | teilweise, teils | ja
hallucination, hallucinated | none
critical, severe | major | minor | none
severe | moderate | mild, slight, minor | none
major | minor | none
none | partial, partially, partly | full, fully, complete
none | some | all
none | low | medium, moderate | high
not relevant, irrelevant | slightly relevant, marginally relevant | relevant | highly relevant, very relevant
not relevant, irrelevant | somewhat relevant, moderately relevant, partially relevant | relevant | highly relevant, very relevant
not relevant, irrelevant | slightly relevant, marginally relevant | somewhat relevant, moderately relevant, partially relevant | relevant | highly relevant, very relevant
schlecht | mäßig, mässig | mittel, befriedigend | gut | sehr gut
slecht | matig | voldoende | goed | zeer goed
poor | fair | good | excellent
bad, poor | ok, okay, fair, average | good | great, excellent
very low | low | medium, moderate | high | very high
poor | fair | good | very good | excellent
terrible, very bad, awful, unacceptable | bad, poor | ok, okay, average, neutral, fair, acceptable | good | excellent, great, very good
very poor | poor | fair, average, ok, okay, acceptable | good | very good, excellent
strongly disagree | disagree | neutral, neither agree nor disagree, neither | agree | strongly agree
sehr schlecht | schlecht | mittel, mittelmäßig, durchschnittlich, neutral, ok, okay | gut | sehr gut
très mauvais, très mauvaise | mauvais, mauvaise | moyen, moyenne, passable | bon, bonne | très bon, très bonne
muy malo, muy mala, muy mal | malo, mala, mal | regular, aceptable | bueno, buena, bien | muy bueno, muy buena, muy bien
pessimo, pessima, molto cattivo, molto cattiva | cattivo, cattiva, scarso | medio, sufficiente, discreto | buono, buona | ottimo, ottima, molto buono, molto buona
péssimo, péssima, muito ruim, muito mau, muito má | mau, má, ruim | regular, médio, razoável | bom, boa | ótimo, ótima, muito bom, muito boa
very dissatisfied, very unsatisfied | dissatisfied, unsatisfied | neutral | satisfied | very satisfied
very negative | negative | neutral | positive | very positive
never | rarely | sometimes | often | always
ungenügend | mangelhaft | ausreichend | befriedigend | gut | sehr gut
strongly disagree | disagree | somewhat disagree, slightly disagree | neutral, neither agree nor disagree, neither | somewhat agree, slightly agree | agree | strongly agree
"""  # noqa: E501  (one scale a line)

WORDS_FOR_MISSING = """
unsure, not sure, i am not sure, im not sure, unknown, not known, dont know, do not know, i dont
know, i do not know, idk, dunno, cant tell, cannot tell, can not tell, cant judge, cannot judge,
cant say, cannot say, cannot decide, cant decide, unable to judge, unable to determine, cannot
determine, cannot assess, cant assess, unclear, uncertain, undecided, undetermined, abstain,
abstained, abstention, abstains, skip, skipped, n/a, na, n.a, n. a, <na>, #n/a, not applicable, not
available, not rated, unrated, not judged, not annotated, unlabeled, unlabelled, no label, no
rating, no judgment, no judgement, none, null, nil, nan, missing, pending, tbd, todo, blank,
weiß nicht, weiss nicht, unklar, unsicher, keine angabe, k.a, k. a, no sé, je ne sais pas, non
so
"""


# A number, a sign, and a name that begins with a letter.
_NUMBER_FIRST = re.compile(
    r"\(?(?P<number>[+-]?\d{1,3})\)?\s*(?:[-–—:=).|]\s*|\s?\(|(?<=\))\s*)"
    r"(?P<name>[^\W\d].*?)\)?",
    re.DOTALL,
)
_NUMBER_LAST = re.compile(
    r"(?P<name>[^\W\d].*?)\s*(?:\(\s*(?P<number>[+-]?\d{1,3})\s*\)|(?:\s[-–—]\s|[:=]\s*)(?P<last>\d{1,3}))",
    re.DOTALL,
)
_STARS_IN_WORDS = re.compile(
    r"(?P<number>\d{1,2})[\s-]*(?:stars?|sterne?|étoiles?|estrellas?|estrelas?|stelle?|stella|⭐|★)",
    re.IGNORECASE,
)
_STARS = re.compile(r"(?:[⭐🌟★][\ufe0f\s]*)*(?:[☆✩][\ufe0f\s]*)*")
_FULL_STAR = re.compile("[⭐🌟★]")

#: More points are no scale that people read as words.
MOST_POINTS = 11
# A longer text is a remark.
_LONG = 60


def numbers_in(words: Iterable[str]) -> dict[str, float] | None:
    """Return the number in each of these words; None where one has none, or they contradict.

    One number has one name, and one name one number, apart from capital letters; stars are counted.
    """
    found: dict[str, float] = {}
    name_of: dict[float, str] = {}
    number_of: dict[str, float] = {}
    for word in words:
        parts = _stars(word) or _named(word)
        if parts is None:
            return None
        number, name = parts
        if name and (
            name_of.setdefault(number, name) != name or number_of.setdefault(name, number) != number
        ):
            return None
        found[word] = number
    return found if found and len(set(found.values())) <= MOST_POINTS else None


def _stars(word: str) -> tuple[float, str] | None:
    text = word.strip()
    if match := _STARS_IN_WORDS.fullmatch(text):
        return float(match["number"]), ""
    if text and _STARS.fullmatch(text):
        return float(len(_FULL_STAR.findall(text))), ""
    return None


def _named(word: str) -> tuple[float, str] | None:
    text = word.strip()
    if len(text) > _LONG:
        return None
    if match := _NUMBER_FIRST.fullmatch(text):
        return float(match["number"]), _name(match["name"])
    if match := _NUMBER_LAST.fullmatch(text):
        return float(match["number"] or match["last"]), _name(match["name"])
    return None


def _name(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".!)")


_POINTS = {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0, "f": 0.0}
_SIGNS = {"+": 0.3, "-": -0.3}
_FURTHER = {"a": 5.0, "b": 4.0, "c": 3.0, "d": 2.0, "e": 1.0, "f": 0.0}
# With fewer letters F may be false, or female.
_FEWEST = 3


def grade_number(grade: str) -> float:
    """Return the points of a grade as they are averaged in schools: A 4, B+ 3.3, F 0.

    Raises
    ------
    KeyError
        It is no grade.
    """
    letter, sign = grade[:1].casefold(), grade[1:]
    return round(_POINTS[letter] + (_SIGNS[sign] if sign else 0), 1)


def school_grades(words: Collection[str]) -> dict[str, float] | None:
    """Return the points of folded words that can only be school grades; None for others.

    A, B, C and D alone may also be the answers to a question; an F without E, or a + or - behind a
    letter, is what answers do not have.
    """
    try:
        points = {word: grade_number(word) for word in words}
    except KeyError:
        return None
    letters = {word[0] for word in points}
    signed = any(len(word) > 1 for word in points)
    return points if signed or ("f" in letters and len(letters) >= _FEWEST) else None


def with_plain_letters(grades: Collection[str]) -> tuple[tuple[str, float], ...]:
    """Return these grades and A, B, C, D and F with their points, from the lowest."""
    shown = sorted({*"FDCBA", *(grade.upper() for grade in grades)}, key=grade_number)
    return tuple((grade, grade_number(grade)) for grade in shown)


def likely_grades(words: Iterable[str]) -> dict[str, float]:
    """Return points of letters from A on in case that they are grades; nothing for other words."""
    letters = set(words)
    if len(letters) < _FEWEST or not letters <= _FURTHER.keys():
        return {}
    points = _FURTHER if "e" in letters else _POINTS
    return {letter: points[letter] for letter in letters}
