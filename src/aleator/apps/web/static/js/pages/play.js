// Play: choose a game, play deals, see afterwards what the agent believed and what was given up.

import { api } from "../api.js";
import { fill, h } from "../dom.js";
import { lobby } from "../play/lobby.js";
import { PlayTable } from "../play/table.js";

export async function render(root, [game, solution], query) {
  if (!game) return openLobby(root);
  const table = new PlayTable(await api.playCatalogue(), game, solution, query.get("opponent"));
  await table.open(root);
  return { leave: () => table.leave() };
}

async function openLobby(root) {
  const [catalogue, presets] = await Promise.all([api.playCatalogue(), api.presets()]);
  let unwatch = () => {};
  fill(
    root,
    h("h1", {}, "Play"),
    lobby(catalogue, presets, (stop) => (unwatch = stop)),
  );
  return { leave: () => unwatch() };
}
