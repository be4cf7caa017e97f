// Play: choose a game, play deals, see afterwards what the agent believed and what was given up.

import { api } from "../api.js";
import { fill, h } from "../dom.js";
import { HandTable } from "../hands/table.js";
import { lobby } from "../play/lobby.js";
import { PlayTable } from "../play/table.js";

export async function render(root, [game, solution], query) {
  if (!game) return openLobby(root);
  if (game === "hunl") return openHands(root, query);
  const table = new PlayTable(await api.playCatalogue(), game, solution, query.get("opponent"));
  await table.open(root);
  return { leave: () => table.leave() };
}

async function openHands(root, query) {
  const stack = Number(query.get("stack")) || 10_000;
  const table = new HandTable(await api.rivals(), { opponent: query.get("opponent"), stack });
  await table.open(root);
  return { leave: () => table.leave() };
}

async function openLobby(root) {
  const [catalogue, presets, rivals] = await Promise.all([api.playCatalogue(), api.presets(), api.rivals()]);
  let unwatch = () => {};
  fill(
    root,
    h("h1", {}, "Play"),
    lobby({ ...catalogue, rivals }, presets, (stop) => (unwatch = stop)),
  );
  return { leave: () => unwatch() };
}
