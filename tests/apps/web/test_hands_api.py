"""Whole hands through the API of a real server: played, kept, replayed, exported, graded."""

from __future__ import annotations

import asyncio
import importlib.util
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aleator import shipped
from aleator.abstraction.ring.training import RingConfig, RingTrainer
from aleator.agents.whole_hands import load_hand_agent
from aleator.apps.web.api_hands import new_session, score_of
from aleator.apps.web.config import ServerConfig
from aleator.apps.web.hand_store import leaks
from aleator.apps.web.models_hands import HandSession, HandSessionRequest, History, PlayedHand, ReadHands
from aleator.apps.web.process import RefusedError
from aleator.apps.web.service import Service
from aleator.apps.web.worker import hand_files
from aleator.apps.web.worker.hand_view import hand_view
from aleator.apps.web.worker.rivals import rivals
from aleator.apps.web.worker.whole_hands import HandError, play
from aleator.apps.web.worker.whole_hands import HandSession as HandSessionOfPlay
from aleator.arena.whole_hands.aivat.hand_value import EquityValue
from aleator.arena.whole_hands.files import read_hands
from aleator.arena.whole_hands.phh import format_phh
from aleator.arena.whole_hands.play import play_hands
from aleator.errors import AleatorError
from aleator.games.holdem.betting import CALL, raise_to
from aleator.games.holdem.cards import parse_cards, parse_hand
from aleator.games.holdem.hand_record import HandRecord, parse_actions
from aleator.games.holdem.hand_state import HandState
from aleator.games.holdem.variants import load_hand_game
from tests.abstraction.blueprint.small import small_buckets
from tests.abstraction.ring.test_walk import THREE
from tests.apps.test_whole_hands_cli import STARS
from tests.apps.web.running import RunningServer, Silent


def new_state(opponent: str = "tight-aggressive", seed: int = 5) -> dict[str, Any]:
    return {"opponent": opponent, "stack": 10_000, "seed": seed, "dealt": 0, "hand": None}


def move(state: dict[str, Any], text: str | None, seen: str | None = None) -> dict[str, Any]:
    return play({"state": state, "move": text, "seen": seen, "blueprints": []}, Silent())


def check_or_call(state: dict[str, Any]) -> dict[str, Any]:
    """Returns the answer after a hand that is checked and called down."""
    answer = move(state, "deal")
    while not answer["view"]["hand"]["over"]:
        answer = move(answer["state"], "c")
    return answer


def test_the_same_seed_deals_the_same_hands_whatever_process_asks() -> None:
    first, again = check_or_call(new_state()), check_or_call(new_state())
    assert first["ended"] == again["ended"]
    assert check_or_call(new_state(seed=6))["ended"]["record"] != first["ended"]["record"]


@pytest.mark.parametrize("warm_up", [True, False])
def test_the_coach_thinks_ahead_when_a_session_begins(tmp_path: Path, warm_up: bool) -> None:
    asked: list[tuple[str, dict[str, Any]]] = []

    async def answer(method: str, params: dict[str, Any]) -> bytes:
        asked.append((method, params))
        raise RefusedError("nobody waits for this")

    async def begin() -> HandSession:
        service = Service(ServerConfig(data_dir=tmp_path, warm_up=warm_up))
        service.queue.start()
        service.coach.call = answer  # type: ignore[method-assign, assignment]
        session = await new_session(service, HandSessionRequest(opponent="always-call", stack=10_000))
        await asyncio.sleep(0.01)
        await service.stop()
        return session

    session = asyncio.run(begin())
    assert session.hand is not None and not session.hand["practice"], "nobody has seen a hint"
    assert [(method, params["state"]["dealt"]) for method, params in asked] == ([("hint", 1)] if warm_up else [])


def test_a_move_that_was_made_for_another_moment_is_refused() -> None:
    """As from a second window, or from one that did not get the last answer."""
    first = move(new_state("always-call"), "deal")
    seen = first["view"]["moment"]
    second = move(first["state"], "c", seen=seen)
    assert second["view"]["moment"] != seen
    with pytest.raises(HandError, match="another window"):
        move(second["state"], "f", seen=seen)
    assert move(second["state"], "c", seen=second["view"]["moment"])["view"]["moment"]


def test_nothing_secret_is_shown_before_the_end() -> None:
    answer = move(new_state("always-call"), "deal")
    while not answer["view"]["hand"]["over"]:
        hand = answer["view"]["hand"]
        assert hand["other_cards"] is None and hand["won"] is None and hand["fair"] is None
        assert set(answer["view"]) == {"opponent", "stack", "dealt", "moment", "players", "hand"}
        assert answer["view"]["moment"] == f"1: {answer['state']['hand']['actions']}", "and nothing of the cards"
        answer = move(answer["state"], "c")
    hand = answer["view"]["hand"]
    assert hand["other_cards"] and hand["showdown"] and hand["own_name"] and hand["other_name"]
    assert hand["steps"][-1]["board"].count(" ") == 4


def test_chips_add_up_at_every_step() -> None:
    state = new_state("half-call-half-raise", seed=9)
    for _ in range(20):
        answer = move(state, "deal")
        while not answer["view"]["hand"]["over"]:
            answer = move(answer["state"], "c")
        hand, state = answer["view"]["hand"], answer["state"]
        assert all(step["pot"] + sum(step["stacks"]) == 20_000 for step in hand["steps"])
        assert abs(hand["won"]) <= 10_000
    assert state["dealt"] == 20


@pytest.mark.parametrize("first", ["c", "3bb"])
def test_all_that_cards_bring_is_luck(first: str) -> None:
    """Against somebody who only calls nothing is left but the equity of the player's hand in what was put in later.

    By the definition: the hand is worth its equity in the blinds, cards move equities, the other's hand is drawn.
    """
    state, won, found = new_state("always-call"), [], []
    equities = np.divide(*EquityValue().rows_of_all_hands(np.zeros(0, np.int8)))
    for _ in range(8):
        answer = move(move(state, "deal")["state"], first)
        while not answer["view"]["hand"]["over"]:
            answer = move(answer["state"], "c")
        state, ended = answer["state"], answer["ended"]
        pot = 2 * (100 if first == "c" else 300)
        held = state["hand"]["hands"][ended["seat"]]
        assert ended["fair"] == pytest.approx((equities[held] - 0.5) * (pot - 150), abs=0.01)
        won.append(ended["won"])
        found.append(ended["fair"])
    assert np.std(won) > 4 * np.std(found)


def test_without_luck_is_unbiased_and_steadier() -> None:
    """Calling down against a maniac: chips with and without luck agree; n = 100, seed 5, |z| < 4."""
    state, won, fair = new_state("half-call-half-raise"), [], []
    for _ in range(100):
        answer = check_or_call(state)
        state = answer["state"]
        won.append(answer["ended"]["won"])
        fair.append(answer["ended"]["fair"])
    difference = np.array(won) - np.array(fair)
    assert abs(difference.mean()) < 4 * difference.std() / np.sqrt(len(difference))
    assert np.std(fair) < np.std(won)


def test_a_move_can_be_taken_back_and_then_the_hand_is_practice() -> None:
    answer = move(new_state("always-call"), "deal")
    first = answer["view"]["hand"]
    acted = move(answer["state"], "c")
    back = move(acted["state"], "undo")["view"]["hand"]
    assert back["legal"] == first["legal"] and back["steps"] == first["steps"] and back["practice"]
    ended = check_or_call(new_state("always-call"))
    again = move(ended["state"], "undo")
    assert not again["view"]["hand"]["over"] and again["view"]["hand"]["other_cards"] is None
    fresh = move(new_state("always-call"), "deal")
    with pytest.raises(HandError, match="not acted"):
        move(fresh["state"], "undo")


def test_moves_out_of_turn_are_refused() -> None:
    state = move(new_state("always-call"), "deal")["state"]
    with pytest.raises(HandError, match="not over yet"):
        move(state, "deal")
    with pytest.raises(AleatorError, match="not an action"):
        move(state, "jump")
    with pytest.raises(HandError, match="deal first"):
        move(new_state(), "c")
    with pytest.raises(AleatorError, match="no opponent 'nobody'"):
        move(new_state("nobody"), "deal")


def test_rivals_come_from_the_registry_with_blueprints_that_are_given() -> None:
    names = [rival.name for rival in rivals()]
    assert {"always-call", "tight-aggressive", "river-perfect"} <= set(names) and "python" not in names
    levels = [rival.level for rival in rivals()]
    assert levels == sorted(levels) and "deep-cfr" not in names, "its networks play another game"
    given = {rival.name: rival.agent for rival in rivals(("a.bin",)) if rival.name not in names}
    assert given["blueprint-1"] == "blueprint:a.bin" and all(":a.bin" in agent for agent in given.values())


def test_those_who_play_from_the_blueprints_of_the_package_have_their_names_and_stacks() -> None:
    found = {rival.name: rival for rival in rivals(tuple(map(str, shipped.blueprints())))}
    for name in (
        ("blueprint", "libratus", "modicum") if importlib.util.find_spec("torch") else ("blueprint", "libratus")
    ):
        assert (found[name].players, found[name].stack, found[name].level >= 4) == (2, 20_000, True)
    for name in ("blueprint-6max", "pluribus"):
        assert (found[name].seats, found[name].stack) == ((name,) * 5, 10_000)
    titles = [found[name].title for name in ("blueprint", "modicum", "libratus", "pluribus", "blueprint-6max")]
    assert titles == ["Blueprint", "Modicum", "Libratus", "Pluribus", "Blueprint"]


@pytest.mark.parametrize(("name", "stack"), [("blueprint", 20_000), ("libratus", 20_000), ("pluribus", 10_000)])
def test_a_blueprint_of_the_package_is_played_with_its_own_stacks(name: str, stack: int) -> None:
    files = [str(file) for file in shipped.blueprints()]
    state = new_state(name)
    answer = play({"state": state, "move": "deal", "blueprints": files}, Silent())
    assert answer["view"]["stack"] == stack
    while not answer["view"]["hand"]["over"]:
        answer = play({"state": answer["state"], "move": "c", "blueprints": files}, Silent())


def test_a_score_is_a_mean_with_its_band() -> None:
    fair = np.tile([100.0, -50.0, 25.0, 0.0], 16)
    score = score_of(64, 75.0, float(fair.sum()), float((fair**2).sum()))
    assert score.raw == pytest.approx(750 / 64) and score.fair == pytest.approx(10 * fair.mean())
    assert score.band == pytest.approx(10 * 1.96 * fair.std(ddof=1) / 8)
    assert score_of(29, 75.0, 75.0, 500.0).band is None, "of so few hands nobody knows"
    assert score_of(1, 5.0, 5.0, 25.0).band is None and score_of(0, 0.0, 0.0, 0.0).fair is None


def test_a_session_survives_a_restart_and_is_exported(empty: Path, tmp_path: Path) -> None:
    server = RunningServer(empty).start()
    body = {"opponent": "tight-aggressive", "stack": 10_000}
    session = server.client.post("/api/hands/sessions", json=body).json()
    for hands in range(1, 4):
        while not session["hand"]["over"]:
            answer = server.client.post(f"/api/hands/sessions/{session['id']}/move", json={"move": "c"})
            session = HandSession.model_validate_json(answer.content).model_dump()
        assert session["score"]["hands"] == hands
        if hands < 3:
            session = server.client.post(f"/api/hands/sessions/{session['id']}/move", json={"move": "deal"}).json()
    server.stop()
    server = RunningServer(empty).start()
    try:
        history = History.model_validate_json(server.client.get("/api/hands/history").content)
        assert history.score.hands == 3 and history.sessions[0].id == session["id"]
        assert history.sessions[0].practice == 0
        rows = server.client.get(f"/api/hands/sessions/{session['id']}/hands").json()
        assert [row["number"] for row in rows] == [3, 2, 1]
        hand = PlayedHand.model_validate_json(server.client.get(f"/api/hands/played/{rows[0]['id']}").content)
        assert hand.view["steps"] == session["hand"]["steps"] and hand.view["other_cards"]
        assert rows[0]["cards"] == hand.view["cards"] and rows[0]["board"] == hand.view["steps"][-1]["board"]
        file = tmp_path / "hands.phhs"
        file.write_bytes(server.client.get("/api/hands/export", params={"session": session["id"]}).content)
        records, problems = read_hands(file)
        assert len(records) == 3 and not problems
        assert records[-1].payoffs()[records[-1].names.index("You")] == session["hand"]["won"]
        assert server.client.get("/api/hands/played/none").status_code == 404
        assert server.client.delete(f"/api/hands/sessions/{session['id']}").status_code == 204
        assert server.client.get("/api/hands/history").json()["score"]["hands"] == 0
    finally:
        server.stop()


def hand_file(hands: int, first: int = 0) -> str:
    """Returns PHH of hands between two rule bots, by name."""
    setup = load_hand_game("hunl:stack=10000").setup
    bots = [load_hand_agent("tight-aggressive"), load_hand_agent("pot-odds")]
    played = play_hands(setup, bots, np.arange(first, first + hands), 3)
    texts = []
    for row in range(hands):
        record = HandRecord.from_dict(played.hands.to_dict(row, row + 1), setup)
        names = tuple(("Tara", "Olive")[agent] for agent in played.seats[row])
        record = HandRecord(
            setup=setup, hands=record.hands, board=record.board, actions=record.actions, names=names, number=row + 1
        )
        texts.append(f"[{row + 1}]\n{format_phh(record)}")
    return "\n".join(texts)


def test_a_file_of_hands_is_read_and_what_is_none_is_refused(server: RunningServer) -> None:
    text = hand_file(4) + "\n[5]\nvariant = 'XX'\n"
    answer = server.client.post("/api/hands/files", params={"name": "mine.phhs"}, content=text)
    found = ReadHands.model_validate_json(answer.content)
    assert found.hands == 4 and sorted(found.players) == [["Olive", 4], ["Tara", 4]]
    assert len(found.problems) == 1 and "mine.phhs, hand [5]" in found.problems[0]
    refused = server.client.post("/api/hands/files", params={"name": "mine.exe"}, content=text)
    assert refused.status_code == 400 and "must end in" in refused.json()["detail"]
    params = {"name": "mine.phhs", "player": "Nobody"}
    assert server.client.post("/api/hands/files/grade", params=params, content=text).status_code == 400


@pytest.mark.parametrize(("fold", "hero"), [(19, "ann"), (17, None), (0, None)])
def test_the_hero_of_a_file_is_the_one_whose_cards_it_shows(fold: int, hero: str | None, tmp_path: Path) -> None:
    """Ann's cards are known in as many of 20 hands as Bob folds in; else nobody's, as if another had saved the file."""
    hidden = STARS.replace("Dealt to ann [As Ah]\n", "")
    text = "".join((STARS if number < fold else hidden).replace("Hand #1", f"Hand #{number}") for number in range(20))
    found = hand_files.read({"name": "mine.txt", "text": text, "game": ""}, Silent())
    assert len(found["records"]) == 20 and found["hero"] == hero
    assert sorted(found["players"]) == [["ann", 20], ["bob", 20]]
    assert hero is None or found["players"][0][0] == hero


def test_a_table_of_six_deals_everybody_in_and_hides_what_was_folded() -> None:
    state = new_state("6max", seed=11)
    seen = set()
    for number in range(1, 13):
        answer = move(state, "deal")
        while not answer["view"]["hand"]["over"]:
            hand = answer["view"]["hand"]
            others = [seat["cards"] for place, seat in enumerate(hand["seats"]) if place != hand["seat"]]
            assert others == [""] * 5, "nothing is seen before the end"
            answer = move(answer["state"], "f" if number % 3 == 0 and hand["legal"]["fold"] else "c")
        hand, state = answer["view"]["hand"], answer["state"]
        folded = hand["steps"][-1]["folded"]
        for place, seat in enumerate(hand["seats"]):
            assert bool(seat["cards"]) == (not folded[place] or place == hand["seat"])
        record = HandRecord.from_dict(answer["ended"]["record"])
        assert sum(record.payoffs()) == 0 and record.payoffs()[hand["seat"]] == hand["won"]
        assert hand["fair"] != hand["won"], "without luck"
        assert record.names[hand["seat"]] == "You" and len(set(record.names)) == 6
        seen.add(hand["position"])
    assert len(seen) == 6, "everybody has every position"


def test_the_neighbours_stay_the_same_while_the_button_goes_round() -> None:
    state, orders = new_state("6max"), set()
    for _ in range(6):
        answer = check_or_call(state)
        state, seats = answer["state"], [seat["title"] for seat in answer["view"]["hand"]["seats"]]
        you = seats.index("You")
        orders.add(tuple(seats[you:] + seats[:you]))
    assert len(orders) == 1


def test_a_move_is_taken_back_to_any_decision() -> None:
    answer = check_or_call(new_state("always-call"))
    hand = answer["view"]["hand"]
    own = [place for place, step in enumerate(hand["steps"]) if step["player"] == hand["seat"]]
    actions = [step for step in hand["steps"] if step["player"] is not None]
    first = actions.index(hand["steps"][own[0]])
    with pytest.raises(HandError, match="after 99 actions"):
        move(answer["state"], "undo 99")
    again = move(answer["state"], f"undo {first}")["view"]["hand"]
    assert again["steps"] == hand["steps"][: own[0]] and again["practice"] and again["legal"]


def test_luck_at_a_table_is_removed() -> None:
    """Three players who only call win nothing in the mean, whatever the cards are; n = 60, seed 3, z = 3."""
    tables = (rivals()[0],) * 2
    assert tables[0].name == "always-call"
    session = HandSessionOfPlay(new_state("6max", seed=3), tables)
    won, fair = [], []
    for _ in range(60):
        ended = session.deal()
        while ended is None:
            ended = session.act("c")
        won.append(ended["won"])
        fair.append(ended["fair"])
    assert np.std(won) > 100 > 3 * np.std(fair), "what is left is what calls added to the pot"
    assert abs(np.mean(fair)) < 3 * np.std(fair) / np.sqrt(60)


def test_a_session_of_six_has_a_score_without_luck(server: RunningServer) -> None:
    body = {"opponent": "6max", "stack": 10_000}
    session = HandSession.model_validate_json(server.client.post("/api/hands/sessions", json=body).content)
    assert session.players == 6
    path = f"/api/hands/sessions/{session.id}"
    while not session.hand["over"]:  # type: ignore[index]
        answer = server.client.post(f"{path}/move", json={"move": "c"})
        session = HandSession.model_validate_json(answer.content)
    assert session.score.hands == 1 and session.score.raw is not None and session.score.fair is not None
    (row,) = server.client.get(f"{path}/hands").json()
    assert row["players"] == 6
    if importlib.util.find_spec("torch") is not None:  # which searches need
        review = server.client.post(f"/api/hands/played/{row['id']}/review").raise_for_status().json()
        assert "played out" in review["note"] and review["decisions"]
    assert server.client.get(f"/api/hands/played/{row['id']}").is_success
    assert server.client.get("/api/hands/export", params={"session": session.id}).is_success


def test_what_was_given_up_adds_up_by_street_and_by_action() -> None:
    def decision(street: str, kind: str, lost: float) -> dict[str, Any]:
        return {"street": street, "actions": [{"kind": kind}], "taken": 0, "given_up": lost, "mistake": lost > 1}

    rows = leaks([decision("river", "call", 3.0), decision("flop", "bet", 0.5), decision("river", "fold", 1.5)])
    assert [(row["street"], row["kind"], row["decisions"], row["mistakes"], row["given_up"]) for row in rows] == [
        ("flop", "", 1, 0, 0.5),
        ("flop", "bet", 1, 0, 0.5),
        ("river", "", 2, 2, 4.5),
        ("river", "call", 1, 1, 3.0),
        ("river", "fold", 1, 1, 1.5),
    ]
    assert leaks([]) == []


def test_of_two_hands_of_one_name_the_kicker_is_told() -> None:
    setup, board = load_hand_game("hunl:100bb").setup, parse_cards("8d Td Jc 6c Tc")
    queen, five = parse_hand("KcQd"), parse_hand("Kd5d")
    actions = parse_actions("c c / c c / c c / c c")

    def names(*hands: int) -> tuple[str, str]:
        view = hand_view(HandRecord(setup=setup, hands=hands, board=board, actions=actions), 0)
        return view["own_name"], view["other_name"]

    better, worse = "a pair of tens, better kicker", "a pair of tens, worse kicker"
    assert names(queen, five) == (better, worse) and names(five, queen) == (worse, better)
    assert names(five, parse_hand("Kh4d")) == ("a pair of tens",) * 2, "a split pot"
    assert names(five, parse_hand("9h7d")) == ("a pair of tens", "a straight to the jack")


def test_a_blueprint_of_several_players_is_a_table(tmp_path: Path) -> None:
    buckets = small_buckets()
    buckets.save(tmp_path / "flop.bin")
    trainer = RingTrainer(
        RingConfig(menu=None, period=100, linear_periods=2), buckets, tmp_path / "flop.bin", game=THREE
    )
    trainer.save(tmp_path / "six.blueprint")
    found = {rival.name: rival for rival in rivals((str(tmp_path / "six.blueprint"),))}
    assert found["blueprint-1"].players == found["pluribus-1"].players == 6
    assert set(found["pluribus-1"].seats) == {"pluribus-1"}
    assert not {"modicum-1", "libratus-1"} & set(found), "these play heads-up"
    assert not {"blueprint-1", "pluribus-1"} & {rival.name for rival in rivals()}


def test_a_hand_that_is_over_says_who_has_won_what() -> None:
    hands = tuple(map(parse_hand, ("2s2d", "3s3d", "4s4d", "5s5d", "6s6d", "7s7d")))
    actions = parse_actions("f f f r300 f f")
    record = HandRecord(setup=load_hand_game("6max").setup, hands=hands, board=(), actions=actions)
    view = hand_view(record, 0)
    assert (view["won"], view["winners"]) == (-50, [0, 0, 0, 0, 0, 150])
    before = hand_view(replace(record, actions=actions[:-1]), 0)
    assert (before["won"], before["winners"]) == (None, [])


def test_sizes_are_those_that_people_raise_to() -> None:
    state = load_hand_game("hunl:100bb").setup.start()

    def sizes(at: HandState) -> list[tuple[str, int]]:
        record = HandRecord(setup=at.setup, hands=(0, 1325), board=at.board, actions=at.actions)
        view = hand_view(record, at.player or 0)
        return [(size["name"], size["amount"]) for size in view["legal"]["sizes"]]

    assert sizes(state) == [("2 bb", 200), ("2.5 bb", 250), ("3 bb", 300), ("4 bb", 400), ("all-in", 10_000)]
    assert sizes(state.act(CALL))[:2] == [("3 bb", 300), ("3.5 bb", 350)], "one more for who called"
    assert sizes(state.act(raise_to(300))) == [("2.5×", 750), ("3×", 900), ("4×", 1200), ("all-in", 10_000)]
    flop = state.act(raise_to(300)).act(CALL).deal(parse_cards("9h 8d 6s"))
    assert sizes(flop)[:2] == [("⅓ pot", 200), ("½ pot", 300)]
