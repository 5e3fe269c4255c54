"""What tokens cost."""

from judge.settings import JudgeSettings


def cost(settings: JudgeSettings, prompt_tokens: float, completion_tokens: float) -> float | None:
    """Return what so many tokens cost; None without prices."""
    if settings.price is None:
        return None
    return (prompt_tokens * settings.price[0] + completion_tokens * settings.price[1]) / 1e6
