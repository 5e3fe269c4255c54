"""Answers that follow a JSON schema, where an endpoint honours `response_format`.

Some servers ignore the request, and some refuse it. A question whose plain answer does not follow
the schema shows which.
"""

import json
from collections.abc import Mapping
from typing import Any, Literal

from judge.engines.openai.endpoint import Endpoint, ask_repeatedly
from judge.prompts.answer_schema import AnswerSchema, follows
from judge.protocol.exchange import Answer, answer_format

SchemaSupport = Literal["honoured", "ignored", "refused"]

TOKENS = 16
"""Tokens of the braces, the name and the white space around an answer."""


async def check_schema(
    endpoint: Endpoint, parameters: Mapping[str, Any], question: str, schema: AnswerSchema
) -> SchemaSupport:
    """Ask a question that a plain number answers, and judge what comes back.

    `parameters` are sent with each prompt, in addition to the schema.
    """
    sent = {**parameters, **answer_format(schema)}
    answer = (await ask_repeatedly(endpoint, question, sent)).result
    if not isinstance(answer, Answer) or answer.missing is not None:
        return "refused"
    # Text before a closed think block is reasoning.
    text = (answer.text or "").rpartition("</think>")[2]
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return "ignored"
    return "honoured" if follows(value, schema.as_object) else "ignored"
