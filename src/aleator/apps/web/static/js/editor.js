// The spot editor: board, ranges, bet menu, amounts; an estimate of the solve while you type.

import { api } from "./api.js";
import { card, RANKS, SUITS } from "./cards.js";
import { bytes, choices, debounce, field, fill, h, number, seconds, toast } from "./dom.js";
import { makePainter } from "./painter.js";

const STREETS = ["flop", "turn", "river"];
const RULES = [["sharp-dcfr+", "sharp DCFR+, the quickest here"], ["dcfr:1.5,0,4", "DCFR (1.5, 0, 4)"], ["dcfr", "DCFR (1.5, 0, 2)"], ["dcfr+", "DCFR+"], ["pcfr+", "PCFR+"], ["pdcfr+", "PDCFR+"], ["cfr+", "CFR+"], ["lcfr", "linear CFR"], ["cfr", "CFR"]];
const clone = (value) => JSON.parse(JSON.stringify(value));

export function makeEditor(presets, start, onsolve, title) {
  let spot = clone(start);
  let [threads, bits] = [1, 32];
  let request = 0;
  const element = h("section", { class: "editor" });
  const estimate = h("div", { class: "estimate", "aria-live": "polite" });
  const button = h("button", { type: "button", class: "primary big", onclick: solve }, "Solve");
  const name = h("input", { type: "text", value: presets[0]?.name ?? "Spot", maxLength: 100, "aria-label": "Name" });
  const painters = {};
  for (const side of ["oop", "ip"]) painters[side] = makePainter(side, (text) => change(() => (spot[side] = text)));
  const board = h("div", { class: "deck", role: "group", "aria-label": "Board" });
  const boardText = h("input", { type: "text", class: "board-text", "aria-label": "Board as text", oninput: () => change(() => (spot.board = boardText.value), { text: false }) });
  const chosen = h("div", { class: "board-cards" });
  const sizes = h("div", { class: "menus" });
  const amounts = h("div", { class: "fields" });

  async function solve() {
    button.disabled = true;
    try {
      await onsolve({ name: name.value.trim() || "Spot", spot, threads, bits });
    } catch (error) {
      toast(error.message, "error");
    } finally {
      button.disabled = false;
    }
  }

  // one estimate at a time: what changes meanwhile is asked for once the answer is there
  const measure = debounce(() => guess(true), 900);
  const look = debounce(() => guess(false), 250);
  let asking = false;
  async function guess(measured) {
    if (asking) return;
    const mine = ++request;
    asking = true;
    const slow = setTimeout(() => mine === request && estimate.classList.add("stale"), 600);
    try {
      const found = await api.estimate({ spot, threads, bits, measure: measured });
      if (mine !== request) return;
      showEstimate(found);
      if (!measured) measure();
    } catch (error) {
      if (mine !== request) return;
      button.disabled = true;
      fill(estimate, h("p", { class: "problem-text", role: "alert" }, error.message));
    } finally {
      clearTimeout(slow);
      estimate.classList.remove("stale");
      asking = false;
      if (mine !== request) look();
    }
  }

  function showEstimate(found) {
    button.disabled = !found.fits;
    const fact = (title, text) => h("div", {}, h("dt", {}, title), h("dd", {}, text));
    fill(
      estimate,
      h(
        "dl",
        { class: "facts" },
        fact("Nodes", number(found.nodes.reduce((a, b) => a + b, 0))),
        fact("Hands", `${found.hands[0]} × ${found.hands[1]}`),
        fact("Memory", bytes(found.memory)),
        fact("Time, about", found.seconds === null ? h("span", { class: "measuring" }, "measuring …") : seconds(found.seconds)),
      ),
      !found.fits && h("p", { class: "problem-text" }, `That does not fit the ${bytes(found.free_memory)} that are free: use 16 bits, fewer sizes or smaller ranges.`),
    );
  }

  function change(edit, { text = true } = {}) {
    edit();
    request += 1;
    showBoard(text);
    look();
  }

  const boardCards = () => spot.board.replaceAll(/[ ,]/g, "").match(/../g) ?? [];

  function showBoard(text = true) {
    if (text) boardText.value = spot.board;
    const on = new Set(boardCards().map((one) => one[0].toUpperCase() + one[1].toLowerCase()));
    for (const key of board.querySelectorAll("button")) key.setAttribute("aria-pressed", on.has(key.dataset.card));
    fill(chosen, [...on].map((one) => card(one, "medium")), on.size < 3 && h("span", { class: "muted" }, `${3 - on.size} more`));
    sizes.querySelectorAll("[data-street]").forEach((box) => {
      const streets = STREETS.indexOf(box.dataset.street) - (on.size - 3);
      box.hidden = streets < 0;
      for (const donk of box.querySelectorAll(".donk")) donk.hidden = streets === 0; // nobody has called before it
    });
  }

  function buildDeck() {
    for (const suit of Object.keys(SUITS))
      for (const rank of RANKS) {
        const one = rank + suit;
        board.append(
          h("button", { type: "button", class: `key suit-${suit}`, dataset: { card: one }, "aria-label": one, "aria-pressed": "false", onclick: () => {
            const on = boardCards();
            if (on.includes(one)) change(() => (spot.board = on.filter((other) => other !== one).join(" ")));
            else if (on.length < 5) change(() => (spot.board = [...on, one].join(" ")));
            else toast("A board has at most five cards.");
          } }, rank === "T" ? "10" : rank, h("i", {}, SUITS[suit])),
        );
      }
  }

  function randomBoard() {
    const deck = Object.keys(SUITS).flatMap((suit) => [...RANKS].map((rank) => rank + suit));
    const count = Math.min(5, Math.max(3, boardCards().length));
    const drawn = Array.from({ length: count }, () => deck.splice(Math.floor(Math.random() * deck.length), 1)[0]);
    change(() => (spot.board = drawn.join(" ")));
  }

  function swapRanges() {
    const [oop, ip] = [painters.oop.get(), painters.ip.get()];
    painters.oop.set(ip);
    painters.ip.set(oop);
  }

  function sizeInput(street, side, kind) {
    const given = spot[street]?.[side]?.[kind];
    const input = h("input", {
      type: "text", value: (given ?? []).join(", "), placeholder: kind === "donk" ? "as bet" : "none", "aria-label": `${street} ${side} ${kind}`,
      oninput: () => change(() => {
        const list = input.value.replaceAll(/\s+%/g, "%").split(/[\s,;]+/).filter(Boolean);
        spot[street][side][kind] = kind === "donk" && !input.value.trim() ? null : list;
      }),
    });
    return input;
  }

  function buildSizes() {
    fill(
      sizes,
      STREETS.map((street) =>
        h("fieldset", { dataset: { street } }, h("legend", {}, street[0].toUpperCase() + street.slice(1)), ["oop", "ip"].map((side) => h("div", { class: "menu-row" }, h("span", { class: "side" }, side.toUpperCase()), field("Bet", sizeInput(street, side, "bet")), field("Raise", sizeInput(street, side, "raise")), side === "oop" && street !== "flop" && h("div", { class: "donk" }, field("Donk", sizeInput(street, side, "donk")))))),
      ),
      h("p", { class: "muted small" }, "Sizes: 50% of the pot, 2.5x the bet faced (raises), geometric, all-in, 120c for exact chips."),
    );
  }

  function amountInput(label, key, { whole = true, scale = 1, hint, holder = spot } = {}) {
    const input = h("input", {
      type: "number", min: 0, step: whole ? 1 : "any", inputMode: "decimal", value: holder()[key] === null || holder()[key] === undefined ? "" : Number((holder()[key] * scale).toPrecision(6)), "aria-label": label,
      oninput: () => change(() => (holder()[key] = input.value === "" ? null : Number(input.value) / scale)),
    });
    return field(label, input, hint);
  }

  function buildAmounts() {
    const at = (...keys) => () => keys.reduce((value, key) => value[key], spot);
    const rule = h("select", { onchange: () => change(() => (spot.solve.rule = rule.value)) }, (RULES.some(([value]) => value === spot.solve.rule) ? RULES : [...RULES, [spot.solve.rule, spot.solve.rule]]).map(([value, text]) => h("option", { value, selected: value === spot.solve.rule }, text)));
    fill(
      amounts,
      amountInput("Pot", "pot", { holder: at() }),
      amountInput("Stack behind", "stack", { holder: at() }),
      amountInput("Smallest bet", "min_bet", { holder: at() }),
      amountInput("Stop at, % of the pot", "target", { holder: at("solve"), whole: false, scale: 100 }),
      h(
        "details",
        { class: "more" },
        h("summary", {}, "More settings"),
        h(
          "div",
          { class: "fields" },
          amountInput("Iterations at most", "max_iterations", { holder: at("solve") }),
          field("Algorithm", rule),
          amountInput("Raises a street at most", "max_raises", { holder: at(), hint: "empty: no cap" }),
          amountInput("Add all-in up to, pots", "all_in_threshold", { holder: at(), whole: false }),
          amountInput("Force all-in below, pots", "force_all_in_threshold", { holder: at(), whole: false }),
          amountInput("Merge close sizes", "merge_threshold", { holder: at(), whole: false }),
          amountInput("Rake, %", "rate", { holder: at("rake"), whole: false, scale: 100 }),
          amountInput("Rake cap, chips", "cap", { holder: at("rake"), whole: false, hint: "empty: none" }),
          field("Threads", h("input", { type: "number", min: 1, max: 64, value: threads, oninput: (event) => change(() => (threads = Number(event.target.value) || 1)) })),
          h("div", { class: "field" }, h("span", { class: "label" }, "Precision"), choices("Precision", [["32", "32 bits"], ["16", "16 bits, half the memory"]], String(bits), (value) => change(() => (bits = Number(value))))),
        ),
      ),
    );
  }

  function fileRow() {
    const load = h("input", { type: "file", hidden: true, accept: ".toml", onchange: async () => {
      try {
        use(await api.parseSpot(await load.files[0].text()), load.files[0].name.replace(/\.toml$/, ""));
      } catch (error) {
        toast(error.message, "error");
      }
    } });
    const save = async () => {
      try {
        const { toml } = await api.formatSpot(spot);
        const link = h("a", { href: URL.createObjectURL(new Blob([toml], { type: "application/toml" })), download: `${name.value || "spot"}.toml` });
        link.click();
        URL.revokeObjectURL(link.href);
      } catch (error) {
        toast(error.message, "error");
      }
    };
    return h("span", { class: "row" }, h("button", { type: "button", class: "quiet", onclick: () => load.click() }, "Open a spot file"), h("button", { type: "button", class: "quiet", onclick: save }, "Save as a file"), load);
  }

  function use(next, title) {
    spot = clone(next);
    name.value = title;
    painters.oop.set(spot.oop);
    painters.ip.set(spot.ip);
    buildSizes();
    buildAmounts();
    change(() => {});
  }

  buildDeck();
  const presetRow = h("div", { class: "presets" }, h("span", { class: "label" }, "Begin with"), presets.map((preset) => h("button", { type: "button", class: "chip", title: preset.summary, onclick: () => use(preset.spot, preset.name) }, preset.name)), fileRow());
  fill(
    element,
    presetRow,
    h(
      "div",
      { class: "editor-columns" },
      h("div", { class: "panel" }, h("div", { class: "title-row" }, h("h2", {}, "Board"), h("button", { type: "button", class: "quiet", onclick: randomBoard }, "Random")), h("div", { class: "board-row" }, chosen, boardText), board, h("h2", {}, "Pot and stacks"), amounts),
      h("div", { class: "panel" }, h("div", { class: "title-row" }, h("h2", {}, "Ranges"), h("button", { type: "button", class: "quiet", onclick: swapRanges }, "Swap"), h("span", { class: "muted small" }, "Click or drag to paint; arrow keys and space do it, too.")), h("div", { class: "ranges" }, painters.oop.element, painters.ip.element)),
    ),
    h("div", { class: "editor-columns" }, h("div", { class: "panel" }, h("h2", {}, "Bet sizes"), sizes), h("div", { class: "panel go" }, h("h2", {}, "Solve"), field("Name", name), estimate, button)),
  );
  use(start, title ?? presets.find((preset) => preset.spot.board === start.board)?.name ?? "Spot");
  return { element, leave: () => (request += 1, Object.values(painters).forEach((painter) => painter.leave())) };
}
