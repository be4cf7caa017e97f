// Spot files: opening one, and saving what is edited as one.

import { api } from "../api.js";
import { attempt, button, h } from "../dom.js";

export function makeSpotFiles(current, use) {
  const open = () =>
    attempt(async () => {
      const [file] = load.files;
      use(await api.parseSpot(await file.text()), file.name.replace(/\.toml$/, ""));
    });
  const load = h("input", { type: "file", hidden: true, accept: ".toml", onchange: open });
  const save = () =>
    attempt(async () => {
      const { spot, name } = current();
      const { toml } = await api.formatSpot(spot);
      download(toml, `${name || "spot"}.toml`);
    });
  return h(
    "span",
    { class: "row" },
    button("Open a spot file", () => load.click(), { class: "quiet" }),
    button("Save as a file", save, { class: "quiet" }),
    load,
  );
}

function download(text, name) {
  const href = URL.createObjectURL(new Blob([text], { type: "application/toml" }));
  h("a", { href, download: name }).click();
  URL.revokeObjectURL(href);
}
