"""Share of a response's statements that its passages support, in two steps."""

from judge.metrics import Metric, MetricInput, MetricValue, MissingValue, Steps, step_prompts


class Faithfulness(Metric):
    key = "faithfulness"
    constructs = ("CC",)
    fields = ("context", "response")
    steps = 2
    prompts = step_prompts(__file__)

    def score(self, response: MetricInput) -> Steps:
        [answer] = yield [self.prompt("statements", answer=response.response)]
        statements = [line for line in (answer.text or "").splitlines() if line.strip()]
        if not statements:
            return MissingValue("no_statements")
        verdicts = yield [
            self.prompt("verdict", context=response.context, statement=statement)
            for statement in statements
        ]
        words = [(verdict.text or "").strip().lower() for verdict in verdicts]
        if not set(words) <= {"yes", "no"}:
            return MissingValue("no_verdict")
        supported = words.count("yes")
        return MetricValue(100 * supported / len(words), parts={"statements": len(words)})
