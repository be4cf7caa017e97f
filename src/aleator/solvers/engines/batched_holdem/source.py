"""CUDA source of rivers of a betting shape: the betting written out as straight-line code in `solve.cu`.

A pass updates one player, the traverser. Reach of the opponent goes down in depth-first order and is added up four rows
at a time; what comes back goes up at once, so that few rows are alive at a time:

- a row of the opponent that ends in a showdown is worth stake x showdown(row);
- a fold of the opponent is worth stake x compatible(fold row), and compatible masses are linear: the node's less those
  of the other rows. So folds are never added up;
- below a row the traverser's own folds and calls need that row's sums only.
"""

from __future__ import annotations

from pathlib import Path

from aleator.caching import cache
from aleator.errors import SolveError
from aleator.solvers.engines.batched_holdem.shapes import DECISION, FOLD, LEAF, SHOWDOWN, BettingShape

_FOLDER = Path(__file__).parent
_TOGETHER = 4  # rows that are added up at a time


@cache
def river_source(shape: BettingShape) -> str:
    """Returns the CUDA source whose kernel `solve` solves rivers of a shape."""
    if LEAF in shape.kind:
        raise SolveError(
            "only betting that ends in showdowns can be solved in one kernel; leaves need the plain engine"
        )
    owned = "|".join(f"(row)=={n - 1}" for n in range(1, shape.num_nodes) if shape.player[shape.parent[n]] == 0)
    text = device_code("numbers.cu", "sums.cu", "solve.cu")
    for player in (0, 1):
        text = text.replace(f"//@PASS{player}", "\n".join(_Pass(shape, player).write()))
    return f"#define OWNED0(row) ({owned})\n{text}"


def device_code(*names: str) -> str:
    """Returns files of device code that stand beside this module, one after the other."""
    return "\n".join((_FOLDER / name).read_text(encoding="utf-8") for name in names)


def scanned_rows(shape: BettingShape, player: int) -> list[int]:
    """Returns the opponent's rows, as nodes in depth-first order, that are added up when a player is updated."""
    return [
        node
        for node in _depth_first(shape)
        if node and shape.player[shape.parent[node]] != player and shape.kind[node] != FOLD
    ]


def _depth_first(shape: BettingShape) -> list[int]:
    nodes, stack = [], [0]
    while stack:
        node = stack.pop()
        nodes.append(node)
        stack.extend(reversed(shape.children[node]))
    return nodes


class _Pass:
    """Writes one player's pass. Variables by node n: r reach, s showdown, c compatible mass (opponent's), v value."""

    def __init__(self, shape: BettingShape, player: int) -> None:
        self.shape, self.player = shape, player
        self.lines: list[str] = []
        self.names: list[str] = []
        self.started: set[int] = set()  # opponent's decisions whose value has begun
        self.expected: set[int] = set()  # opponent's decisions whose reach is there
        self.missing = {node: self._inputs(node) for node in shape.decisions}

    def write(self) -> list[str]:
        """Returns the body of the pass."""
        scanned = scanned_rows(self.shape, self.player)
        self.say("float reached[2], matched[2], result[2];")
        self.say("EACH { reached[j] = root_reach(pass, j); matched[j] = root_compatible(pass, j); }")
        for first in range(0, len(scanned), _TOGETHER):
            group = scanned[first : first + _TOGETHER]
            for node in group:
                self.reach(self.shape.parent[node])
            self.add_up(group)
            for node in group:
                self.arrive(node)
        self.say("EACH keep(pass, j, result[j]);")
        return [*(f"float {name}[2];" for name in self.names), *self.lines]

    def say(self, line: str) -> None:
        self.lines.append(line)

    def name(self, letter: str, node: int) -> str:
        """Returns a new variable of a node."""
        self.names.append(f"{letter}{node}")
        return f"{letter}{node}"

    def stake(self, node: int) -> str:
        return f"shared.stake[{self.shape.stake[node]}]"

    def above(self, node: int) -> int | None:
        """Returns the opponent's last row above a node, None where the opponent has not acted yet."""
        while node:
            if self.shape.player[self.shape.parent[node]] != self.player:
                return node
            node = self.shape.parent[node]
        return None

    def reach_of(self, row: int | None) -> str:
        return "reached[j]" if row is None else f"r{row}[j]"

    def compatible_of(self, row: int | None) -> str:
        return "matched[j]" if row is None else f"c{row}[j]"

    def _inputs(self, node: int) -> int:
        """Returns how many things a decision's value waits for: decisions below, and if the opponent acts its rows."""
        below = self.shape.children[node]
        waits = sum(self.shape.kind[child] == DECISION for child in below)
        if self.shape.player[node] != self.player:
            waits += sum(self.shape.kind[child] != FOLD for child in below)
        return waits

    def policy(self, node: int, regrets: str) -> str:
        """Loads the regrets g0, g1, ... of a decision; returns the code that makes `factor` and `even` of one hand."""
        below = self.shape.children[node]
        for action, child in enumerate(below):
            self.say(f"float g{action}[2]; load(pass.{regrets}, {child - 1}, g{action});")
        total = " + ".join(f"weight(g{action}[j])" for action in range(len(below)))
        even = f"{1 / len(below):.9g}f"
        return f"float all = {total}, factor = all > 0.f ? __fdividef(1.f, all) : 0.f, even = all > 0.f ? 0.f : {even};"

    def reach(self, node: int) -> None:
        """Pushes the opponent's reach to all actions of one of its decisions."""
        if node in self.expected:
            return
        self.expected.add(node)
        below, here = self.shape.children[node], self.reach_of(self.above(node))
        self.say("{")
        policy = self.policy(node, "opponent")
        self.say(f"EACH {{ {policy} float here = {here};")
        for action, child in enumerate(below):
            probability = f"here * (weight(g{action}[j]) * factor + even)"
            if self.shape.kind[child] != FOLD:
                self.say(f"{self.name('r', child)}[j] = {probability};")
            self.say(f"add_to_sum(pass, {child - 1}, j, {probability});")
        self.say("} }")

    def add_up(self, group: list[int]) -> None:
        """Adds up some rows, and looks up their sums for each hand."""
        parts = [f"r{node}[j]" for node in group] + ["0.f"] * (_TOGETHER - len(group))
        looked = " ".join(
            f"{self.name('s', node)}[j] = showdown.{part}; {self.name('c', node)}[j] = compatible.{part} + r{node}[j];"
            for node, part in zip(group, "xyzw", strict=False)
        )
        self.say(f"{{ float4 rows[2]; EACH rows[j] = make({', '.join(parts)}); add_up(shared, rows, list);")
        self.say("float4 total = shared.before[SLOT(HANDS)];")
        self.say(
            f"EACH {{ float4 showdown, compatible; look_up(shared, place[j], total, showdown, compatible); {looked} }} "
            "}"
        )

    def arrive(self, row: int) -> None:
        """Uses the sums of an opponent's row."""
        shape, node = self.shape, self.shape.parent[row]
        folds = [child for child in shape.children[node] if shape.kind[child] == FOLD]
        if node not in self.started:
            self.started.add(node)
            begin = f"{self.stake(folds[0])} * {self.compatible_of(self.above(node))}" if folds else "0.f"
            self.say(f"EACH {self.name('v', node)}[j] = {begin};")
        terms = f" - {self.stake(folds[0])} * c{row}[j]" if folds else ""
        if shape.kind[row] == SHOWDOWN:
            terms += f" + {self.stake(row)} * s{row}[j]"
        if terms:
            self.say(f"EACH v{node}[j] = v{node}[j]{terms};")
        if shape.kind[row] == DECISION and not self.missing[row]:
            self.finish(row)  # the traverser can only fold or call
        self._count(node)

    def _count(self, node: int) -> None:
        self.missing[node] -= 1
        if not self.missing[node]:
            self.finish(node)

    def finish(self, node: int) -> None:
        """Passes the value of a decision up, after the traverser's regrets there are updated."""
        if self.shape.player[node] == self.player:
            self.update(node)
        if not node:
            self.say("EACH result[j] = v0[j];")
            return
        up = self.shape.parent[node]
        if self.shape.player[up] != self.player:
            self.say(f"EACH v{up}[j] += v{node}[j];")
        self._count(up)

    def update(self, node: int) -> None:
        """Makes the value of a traverser's decision, and its next regrets."""
        below = self.shape.children[node]
        self.say("{")
        policy = self.policy(node, "old")
        self.say(f"EACH {{ {policy}")
        for action, child in enumerate(below):
            self.say(f"float u{action} = {self.worth(child)};")
        mean = " + ".join(f"(weight(g{action}[j]) * factor + even) * u{action}" for action in range(len(below)))
        self.say(f"float mean = {mean}; {self.name('v', node)}[j] = mean;")
        for action in range(len(below)):
            old = f"g{action}[j]"
            new = f"fmaxf({old} * ({old} > 0.f ? pass.positive : pass.negative) + (u{action} - mean), pass.floor)"
            self.say(f"{old} = fminf({new}, LARGEST);")
        self.say("}")
        self.say(" ".join(f"store(pass.next, {child - 1}, g{action});" for action, child in enumerate(below)))
        self.say("}")

    def worth(self, child: int) -> str:
        """Returns the traverser's value of one of its actions."""
        row = self.above(child)
        if self.shape.kind[child] == FOLD:
            return f"-{self.stake(child)} * {self.compatible_of(row)}"
        if self.shape.kind[child] == SHOWDOWN:
            return f"{self.stake(child)} * s{row}[j]"
        return f"v{child}[j]"
