// The bet menu of a spot: sizes per street and player.

import { field, fill, h, small } from "../dom.js";
import { capitalised } from "../format.js";
import { STREETS } from "../spot.js";

const HELP = "Sizes: 50% of the pot, 2.5x the bet faced (raises), geometric, all-in, 120c for exact chips.";

// the sizes of a text such as "50 %, 100%"; null for donks that are as bets
export function parseSizes(text, kind) {
  if (kind === "donk" && !text.trim()) return null;
  const joined = text.replaceAll(/\s+%/g, "%");
  return joined.split(/[\s,;]+/).filter(Boolean);
}

// change(edit) is called with a function that edits the spot
export function makeSizes(change) {
  const element = h("div", { class: "menus" });

  function input(spot, street, side, kind) {
    const edit = (edited) => (edited[street][side][kind] = parseSizes(box.value, kind));
    const box = h("input", {
      type: "text",
      value: (spot[street]?.[side]?.[kind] ?? []).join(", "),
      placeholder: kind === "donk" ? "as bet" : "none",
      "aria-label": `${street} ${side} ${kind}`,
      oninput: () => change(edit),
    });
    return box;
  }

  function row(spot, street, side) {
    const donks = side === "oop" && street !== "flop";
    return h(
      "div",
      { class: "menu-row" },
      h("span", { class: "side" }, side.toUpperCase()),
      field("Bet", input(spot, street, side, "bet")),
      field("Raise", input(spot, street, side, "raise")),
      donks && h("div", { class: "donk" }, field("Donk", input(spot, street, side, "donk"))),
    );
  }

  function build(spot) {
    const street = (name) => {
      const rows = ["oop", "ip"].map((side) => row(spot, name, side));
      return h("fieldset", { dataset: { street: name } }, h("legend", {}, capitalised(name)), rows);
    };
    fill(element, STREETS.map(street), small(HELP));
  }

  // streets that are over have no sizes; on the first there are no donks, since nobody has called before it
  function show(dealt) {
    for (const box of element.querySelectorAll("[data-street]")) {
      const ahead = STREETS.indexOf(box.dataset.street) - (dealt - 3);
      box.hidden = ahead < 0;
      for (const donk of box.querySelectorAll(".donk")) donk.hidden = ahead === 0;
    }
  }

  return { element, build, show };
}
