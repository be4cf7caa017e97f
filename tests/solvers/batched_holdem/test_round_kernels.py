"""Updates of betting rounds by kernels against `plain`: on a device, or with a C++ compiler as one."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from aleator.solvers.algorithms import parse_rule
from aleator.solvers.engines.batched_holdem import whole_kernels
from aleator.solvers.engines.batched_holdem.deck import Deck
from aleator.solvers.engines.batched_holdem.order import order_of
from aleator.solvers.engines.batched_holdem.payoffs import PairPayoffs, RiverPayoffs
from aleator.solvers.engines.batched_holdem.plain import LeafCfvs, PlainEngine
from aleator.solvers.engines.batched_holdem.round_kernels import RoundKernels
from aleator.solvers.engines.batched_holdem.shapes import PotMenu
from aleator.solvers.engines.batched_holdem.whole_kernels import KernelPayoffs
from tests.cuda_on_cpu import KernelOnCpu, compile_for_the_cpu, needs_compiler

DECK = Deck(range(35, 52))  # 17 cards: 66 hands on a river, which is no multiple of four
MENUS = {"few": PotMenu(most=2), "many": PotMenu(bets=(0.2, 0.4, 0.6, 0.8, 1.0), most=1)}
STACKS = [3.0, 3.4, 3.9]


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, KernelOnCpu]:
    folder: Path = tmp_path_factory.mktemp("kernels")
    return compile_for_the_cpu(whole_kernels.street_source(), {"THREADS": whole_kernels.THREADS}, folder)


@pytest.fixture(params=["cpu", "cuda"])
def device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> torch.device:
    if request.param == "cuda":
        if not torch.cuda.is_available():
            pytest.skip("no CUDA device")
    else:
        compiled = request.getfixturevalue("compiled")
        monkeypatch.setattr(whole_kernels, "make_kernel", lambda name, shared_bytes, device: compiled[name])
    return torch.device(request.param)


def worth_less_when_wide(reach: torch.Tensor) -> torch.Tensor:
    """Prices leaves in a way that depends on both players' reach."""
    return reach.flip(2) * (1.0 + 0.01 * reach.sum(-1, keepdim=True)) - 0.3 * reach.sum(-1, keepdim=True).flip(2)


@needs_compiler
@pytest.mark.parametrize("menu", MENUS)
@pytest.mark.parametrize("leaf_cfvs", [None, worth_less_when_wide], ids=["river", "leaves"])
@pytest.mark.parametrize("rule", ["sharp-dcfr+", "dcfr"])
def test_updates_equal_plain(device: torch.device, menu: str, leaf_cfvs: LeafCfvs | None, rule: str) -> None:
    generator = torch.Generator().manual_seed(1)
    cards = 5 if leaf_cfvs is None else 4
    boards = DECK.random_boards(len(STACKS), cards, generator)
    live = ~DECK.blocked(boards)
    count = int(live[0].sum())
    hands = live.byte().argsort(dim=1, descending=True, stable=True)[:, : -(-count // 4) * 4]  # some are blocked
    options = MENUS[menu]
    betting = PotMenu(bets=options.bets, most=options.most, to_showdown=leaf_cfvs is None).betting(STACKS[0])
    stakes = torch.from_numpy(betting.stakes(STACKS)).float()
    reach = torch.rand(len(STACKS), 2, DECK.num_hands, generator=generator) * live[:, None]

    def engine_of(columns: torch.Tensor, payoffs: RiverPayoffs | PairPayoffs) -> PlainEngine:
        rows = reach.gather(2, columns[:, None].expand(-1, 2, -1))
        return PlainEngine(betting.shape, stakes, rows, payoffs, parse_rule(rule), leaf_cfvs=leaf_cfvs, averages=True)

    if leaf_cfvs is None:
        order = order_of(DECK, boards)
        columns, plain = order.hand, engine_of(order.hand, RiverPayoffs(order))
    else:  # pairs of the live cards, in the order of their numbers
        columns = hands[:, :count]
        held = torch.zeros(len(STACKS), count, DECK.num_cards).scatter_(2, DECK.hand_cards[columns], 1.0)
        plain = engine_of(columns, PairPayoffs(DECK.num_cards - cards, torch.device("cpu")))
        rows = plain.reach
        met = rows.sum(-1, keepdim=True) - (rows @ held) @ held.mT + rows
        torch.testing.assert_close(plain.payoffs.compatible(rows), met)  # the order is that of `PairPayoffs`

    numbers = hands.to(device)
    strength = DECK.strengths(boards).gather(1, hands).to(device) if leaf_cfvs is None else None
    games = torch.arange(len(STACKS), device=device)
    payoffs = KernelPayoffs(DECK.hand_cards.to(device)[numbers], games, strength)
    kernels = RoundKernels(betting.shape, stakes.to(device), payoffs, leaf_cfvs)
    own_reach = reach.to(device).gather(2, numbers[:, None].expand(-1, 2, -1))
    shape = (len(STACKS), betting.shape.num_rows, hands.shape[1])
    regrets, sums = torch.zeros(shape, device=device), torch.zeros(shape, device=device)
    means = torch.zeros(2, len(STACKS), 1 + len(betting.shape.children[0]), hands.shape[1], device=device)
    place = torch.full((len(STACKS), DECK.num_hands), -1)
    place.scatter_(1, hands, torch.arange(hands.shape[1]).expand_as(hands))
    at = place.gather(1, columns)

    def on_columns(rows: torch.Tensor) -> torch.Tensor:
        return rows.cpu().gather(-1, at.view(len(at), *[1] * (rows.dim() - 2), -1).expand(*rows.shape[:-1], -1))

    expected_means = torch.zeros(2, len(STACKS), means.shape[2], count)
    for discounts in parse_rule(rule).schedule(1, 3)[:, :4]:
        plain._discounts.copy_(torch.from_numpy(discounts))
        for player in (0, 1):
            policies = plain.current_policies()
            cfvs = plain.cfvs(policies, player)
            expected_means[player] = expected_means[player] * discounts[2] + cfvs[:, : means.shape[2]]
            plain._update(player, cfvs, policies)
            values = kernels.update(
                player, own_reach, regrets, sums, means[player], plain._discounts.to(device), sharp="sharp" in rule
            )
            close = {"rtol": 1e-4, "atol": 1e-4}
            torch.testing.assert_close(on_columns(values), cfvs[:, 0], **close)
            torch.testing.assert_close(on_columns(regrets), plain.regrets, **close)
            assert plain.policy_sum is not None
            torch.testing.assert_close(on_columns(sums), plain.policy_sum, **close)
            regrets.scatter_(2, at[:, None].expand_as(plain.regrets).to(device), plain.regrets.to(device))
    for player in (0, 1):
        torch.testing.assert_close(on_columns(means[player]), expected_means[player], rtol=1e-4, atol=1e-4)
    assert bool(plain.regrets.any())
