"""Why an action was good or bad, in words, from exact numbers."""

from __future__ import annotations

import math

from aleator.apps.web.worker.judgement import Judgement
from aleator.apps.web.worker.solved import Solved, after, mixture_of
from aleator.games.table import PublicHistory

OFTEN, RARE = 0.99, 0.02


def explain(solved: Solved, history: PublicHistory, hand: int, taken: int, judgement: Judgement) -> str:
    """Returns a sentence or two about a decision: what was taken, what would have been best, and what follows each."""
    values, policy = judgement.values, judgement.policy
    if values is None:
        return ""
    options = solved.options(history)
    best, lost = int(values.argmax()), judgement.given_up(taken)
    name = options[taken].name
    if lost <= solved.slack:
        if policy is None:
            return f"“{name}” is as good as any action here."
        if policy[taken] >= OFTEN:
            return f"The equilibrium always plays “{name}” here."
        if policy[taken] > RARE:
            return f"Right: the equilibrium mixes here, and plays “{name}” {_percent(policy[taken])} of the time."
        return f"As good as the best against this agent, though the equilibrium hardly ever plays “{name}” here."
    first = f"“{name}” is worth {_amount(values[taken])}, “{options[best].name}” {_amount(values[best])}."
    parts = [first, *(_what_follows(solved, history, hand, action) for action in (taken, best))]
    return " ".join(filter(None, parts))


def _what_follows(solved: Solved, history: PublicHistory, hand: int, action: int) -> str:
    """Returns a sentence about what comes after an action, if there is one worth saying."""
    option, player = solved.options(history)[action], history.seat
    then = after(solved.game, history, action)
    if then.seat == 1 - player:
        return f"After “{option.name}” the agent {_answers(solved, then, hand)}."
    if then.seat < 0 and option.kind in ("call", "challenge"):
        chance = solved.win_chance(then, player, hand)
        if not math.isnan(chance):
            return f"“{option.name}” wins {_percent(chance)} of the time against the hands the agent can have."
    return ""


def _answers(solved: Solved, history: PublicHistory, own: int) -> str:
    mixture, options = mixture_of(solved, history, own), solved.options(history)
    order = sorted(range(len(options)), key=lambda index: -mixture[index])[:2]
    said = [f"answers “{options[index].name}” {_percent(mixture[index])}" for index in order if mixture[index] >= RARE]
    return " and ".join(said).replace("and answers", "and") or "has many answers"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _amount(value: float) -> str:
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 3
    return f"{value:+.{digits}f}".replace("-", "−")
