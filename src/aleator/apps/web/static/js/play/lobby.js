// What can be played: games, solved spots, and spots that are solved when they are chosen.

import { api, watchJob } from "../api.js";
import { card, cards, dice } from "../cards.js";
import { button, h, muted, toast } from "../dom.js";
import { face } from "../hands/face.js";

const LEAD =
  "Against an equilibrium you cannot win in the long run, only learn. After each deal you see the agent's beliefs, its " +
  "policy, and what each of your decisions was worth.";
const ART = {
  dice: (name) =>
    dice({ "2x3": "23", "2x4": "34" }[name.slice(-3)] ?? name.slice(-1), Number(name.slice(-1)), "medium"),
  cards: (name) => h("span", { class: "cards" }, card("K", "medium"), card(name === "kuhn" ? null : "J", "medium")),
};

// onwatch is given a function that ends listening to a solve
export function lobby(catalogue, presets, onwatch) {
  const quick = presets.filter((preset) => isQuick(preset, catalogue.spots));
  const own = h("a", { href: "#/solve" }, "Solve a spot of your own");
  const titles = [
    "Heads-up no-limit hold'em, whole hands",
    "A table of several",
    "Small games, solved",
    "Hold'em spots",
  ];
  const [twoTitle, ringTitle, gamesTitle, spotsTitle] = titles.map((text) => h("h2", {}, text));
  return [
    jumps([twoTitle, "Heads-up"], [ringTitle, "Six-handed"], [gamesTitle, "Small games"], [spotsTitle, "Spots"]),
    twoTitle,
    h("section", { class: "tiles rivals" }, catalogue.rivals.filter(({ players }) => players === 2).map(rivalTile)),
    ringTitle,
    h("section", { class: "tiles rivals" }, catalogue.rivals.filter(({ players }) => players > 2).map(rivalTile)),
    gamesTitle,
    h("p", { class: "lead" }, LEAD),
    h("section", { class: "tiles games" }, catalogue.games.map(gameTile)),
    spotsTitle,
    muted("Any spot you have solved can be played; these are solved when you choose them. ", own),
    h(
      "section",
      { class: "tiles" },
      catalogue.spots.map(spotTile),
      quick.map((preset) => presetTile(preset, onwatch)),
    ),
  ];
}

// buttons that go to the parts of the page, where it is long
const jumps = (...parts) =>
  h(
    "p",
    { class: "row jumps" },
    parts.map(([title, text]) => button(text, () => title.scrollIntoView({ behavior: "smooth" }), { class: "chip" })),
  );

// presets that are solved in a second or two, and are not among the solved spots yet
export function isQuick({ name, spot }, solved) {
  return spot.board.length >= 11 && name !== "Turn endgame" && !solved.some((job) => job.name === name);
}

const rivalTile = ({ name, title, level, summary, ...look }) =>
  h(
    "a",
    { class: "tile game rival", href: `#/play/hunl?opponent=${name}` },
    face({ ...look, level }, 52),
    h("h2", {}, title, h("small", { class: "level", "aria-label": `level ${level} of 5` }, dots(level))),
    h("p", {}, summary),
  );

const dots = (level) => "●".repeat(level) + "○".repeat(5 - level);

const tileArt = (picture) => h("div", { class: "tile-art" }, picture);
const stakes = ({ pot, stack }) => `Hold'em, pot ${pot}, ${stack} behind`;

const gameTile = ({ name, family, title, summary }) =>
  h(
    "a",
    { class: "tile game", href: `#/play/${name}` },
    tileArt(ART[family](name)),
    h("h2", {}, title),
    h("p", {}, summary),
  );

const spotTile = ({ id, name, summary: { spot } }) =>
  h(
    "a",
    { class: "tile game", href: `#/play/holdem/${id}` },
    tileArt(cards(spot.board, "small")),
    h("h2", {}, name),
    h("p", {}, stakes(spot)),
  );

function presetTile({ name, summary, spot }, onwatch) {
  const state = h("p", {}, stakes(spot));
  const onend = ({ id, status, error }) => {
    tile.disabled = status === "done";
    if (status === "done") location.hash = `#/play/holdem/${id}`;
    else state.textContent = error ?? "Cancelled.";
  };
  const solve = async () => {
    tile.disabled = true;
    state.textContent = "Solving it first …";
    try {
      const job = await api.solve({ name, spot, threads: 1, bits: 32 });
      onwatch(watchJob(job.id, () => {}, onend));
    } catch (error) {
      toast(error.message, "error");
      tile.disabled = false;
    }
  };
  const parts = [tileArt(cards(spot.board, "small")), h("h2", {}, name), state];
  const tile = button(parts, solve, { class: "tile game", title: summary });
  return tile;
}
