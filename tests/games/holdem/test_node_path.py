import pytest
from hypothesis import given
from hypothesis import strategies as st

from aleator.games.holdem.cards import format_card, parse_card
from aleator.games.holdem.node_path import NodePath, NodePathError, check_cards_of_path, parse_path

TOKENS = st.one_of(
    st.sampled_from(["f", "c"]),
    st.integers(1, 10**6).map(lambda chips: f"b{chips}"),
    st.integers(0, 51).map(format_card),
)


@given(st.lists(TOKENS, max_size=8))
def test_paths_are_printed_back(tokens: list[str]) -> None:
    path = NodePath(tuple(tokens))
    assert parse_path(str(path)) == path


def test_street_mark_is_optional_and_always_printed() -> None:
    assert parse_path("r") == parse_path("r:0") == NodePath()
    assert str(parse_path("r:b100:c:8h:b300")) == "r:0:b100:c:8h:b300"


def test_players_tokens_and_cards_are_told_apart() -> None:
    path = parse_path("r:0:b100:c:8H:c:c:2d:f")
    assert path.actions == ("b100", "c", "c", "c", "f")
    assert path.cards == (parse_card("8h"), parse_card("2d"))
    assert path.then("b7").tokens == ("b100", "c", "8h", "c", "c", "2d", "f", "b7")


@pytest.mark.parametrize(
    ("text", "token"),
    [
        ("0:c", "'0'"),
        ("", "''"),
        ("r:0:x", "'x'"),
        ("r:0:c:", "''"),
        ("r:b", "'b'"),
        ("r:b0", "'b0'"),
        ("r:1h", "'1h'"),
    ],
)
def test_unreadable_paths_name_the_token(text: str, token: str) -> None:
    with pytest.raises(NodePathError, match=token):
        parse_path(text)


def test_cards_come_once() -> None:
    check_cards_of_path(parse_path("r:c:c:8h:c:c:9h"), board=(parse_card("2c"),))
    with pytest.raises(NodePathError, match="8h"):
        check_cards_of_path(parse_path("r:c:c:8h"), board=(parse_card("8h"),))
    with pytest.raises(NodePathError, match="8h"):
        check_cards_of_path(parse_path("r:c:c:8h:c:c:8h"), board=())
