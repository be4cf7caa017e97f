"""Charts before the flop as JSON values, for the command line and the web app."""

from __future__ import annotations

from typing import Any

from aleator.agents.whole_hands.preflop import PreflopCharts, PreflopNode


def preflop_report(charts: PreflopCharts, node: PreflopNode) -> dict[str, Any]:
    """Returns a place in the betting before the flop as JSON values; what is by class has 169 entries."""
    betting = node.state.betting
    document: dict[str, Any] = {
        "node": str(node.path),
        "agent": charts.agent.name,
        "positions": list(charts.positions),
        "to_act": charts.positions[node.player] if node.player >= 0 else None,
        "pot": betting.pot,
        "stacks": list(betting.stacks),
        "folded": list(betting.folded),
        "is_flop": node.is_flop,
        "actions": [],
    }
    if node.player >= 0:
        weights, policy = node.classes()
        document["weights"] = weights.tolist()
        document["actions"] = [
            {
                "token": token,
                "name": name,
                "kind": action.kind.name.lower(),
                "frequency": share,
                "classes": row.tolist(),
            }
            for token, name, action, share, row in zip(
                node.tokens, node.names, node.actions, node.frequencies, policy, strict=True
            )
        ]
    return document
