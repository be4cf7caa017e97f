// The bet menu of a spot: sizes per street and player.

import { field, fill, h, small } from "../dom.js";
import { capitalised } from "../format.js";
import { STREETS } from "../spot.js";
import { sync } from "./chips-field.js";
import { sizesInUnit, takeSizes } from "./size-units.js";

const HELP =
  "Sizes: 50% of the pot, 2.5x the bet faced (raises), geometric, all-in, 120c for exact chips, 2.5bb for big blinds.";

// the sizes of a text such as "50 %, 100%"; null for donks that are as bets
export function parseSizes(text, kind) {
  if (kind === "donk" && !text.trim()) return null;
  const joined = text.replaceAll(/\s+%/g, "%");
  return joined.split(/[\s,;]+/).filter(Boolean);
}

// change(edit) is called with a function that edits the spot; onfiner() when chips have become finer, so that a size is
// a whole number of them
export function makeSizes(change, onfiner = () => {}) {
  const element = h("div", { class: "menus" });
  let boxes = []; // each with what it says of a spot

  function input(spot, street, side, kind) {
    const say = (of) => sizesInUnit(of[street]?.[side]?.[kind] ?? [], of.min_bet ?? 1).join(", ");
    const oninput = () => {
      let times = 1;
      change((edited) => {
        const sizes = parseSizes(box.value, kind);
        times = takeSizes(edited, { street, side, kind }, sizes);
        if (times > 1) sync(boxes, edited, box);
      });
      if (times > 1) onfiner();
    };
    const box = h("input", {
      type: "text",
      value: say(spot),
      placeholder: kind === "donk" ? "as bet" : "none",
      "aria-label": `${street} ${side} ${kind}`,
      oninput,
    });
    boxes.push({ input: box, say });
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
    boxes = [];
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
