"""Deals and payoffs as operators: products with matrices, and pairs of hands drawn without looking at all pairs."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from aleator.solvers.engines.batched.growing import Growing  # noqa: E402
from aleator.solvers.engines.batched.operators import DenseMatrices, draw  # noqa: E402


def deals(number: int, hands: int = 4) -> tuple[DenseMatrices, torch.Tensor, torch.Tensor]:
    """Returns deals at some rows in a mixed order, their matrices, and which one each row has."""
    generator = torch.Generator().manual_seed(0)
    matrices = torch.rand((3, hands, hands), generator=generator, dtype=torch.float64)
    matrices[:, 1, 2] = 0.0
    which = torch.randint(3, (number,), generator=generator)
    order = torch.argsort(which, stable=True)
    return DenseMatrices(matrices, order, which[order]), matrices, which


def test_cf_reach_is_chance_times_the_opponents_reach() -> None:
    operator, matrices, which = deals(20)
    reach = torch.rand((20, 4), generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    for player, form in ((0, "gij,gj->gi"), (1, "gji,gj->gi")):
        exact = torch.einsum(form, matrices[which], reach)
        np.testing.assert_allclose(operator.cf_reach(player, reach), exact[operator.rows], atol=1e-12)


def test_payoffs_change_their_sign_for_player_1() -> None:
    operator, matrices, which = deals(20)
    stake = torch.linspace(-2, 2, 20, dtype=torch.float64)
    payoffs = DenseMatrices(matrices, operator.rows, which[operator.rows], stake)
    reach = torch.ones((20, 4), dtype=torch.float64)
    np.testing.assert_allclose(payoffs.apply(0, reach), operator.apply(0, reach) * stake[:, None])
    np.testing.assert_allclose(payoffs.apply(1, reach), -operator.apply(1, reach) * stake[:, None])


def test_pairs_of_hands_come_as_often_as_chance_and_both_players_say() -> None:
    number = 3 * 40_000
    operator, matrices, which = deals(number)
    rows = torch.tensor([[1.0, 0.5, 0.0, 2.0]]), torch.tensor([[0.0, 1.0, 3.0, 0.1]])
    reach = tuple(row.double().expand(number, 4) for row in rows)
    draws = torch.rand(number, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    first, second = operator.sample((reach[0], reach[1]), draws)
    for kind in range(3):
        joint = matrices[kind] * rows[0].double().T * rows[1].double()
        mine = which == kind
        count = torch.bincount(first[mine] * 4 + second[mine], minlength=16).view(4, 4)
        chance = joint / joint.sum()
        assert (count[joint == 0] == 0).all()
        error = (chance * (1 - chance) / mine.sum()).sqrt()
        assert float(((count / mine.sum() - chance).abs() / error.clamp(min=1e-9)).max()) < 4  # z, at n = 40,000


def test_a_draw_never_falls_on_nothing() -> None:
    weights = torch.tensor([[0.0, 0.3, 0.0, 0.7, 0.0, 0.0]] * 5)
    total = float(weights[0].cumsum(0)[-1])
    columns = draw(weights.cumsum(dim=1), torch.tensor([-1e-9, 0.0, 0.3, total, total * 1.001]))
    assert columns.tolist() == [1, 1, 3, 3, 3]


def test_rows_grow_and_keep_their_values() -> None:
    growing = Growing(2, dtype=torch.float32, device="cpu")
    for begin in range(0, 30, 3):
        rows = growing.append(np.arange(2 * begin, 2 * begin + 6).reshape(3, 2))
    assert torch.equal(rows, torch.arange(60.0).view(30, 2)) and rows is growing.rows
    growing.clear()
    assert len(growing.rows) == 0 and len(growing.append([[1, 2]])) == 1
