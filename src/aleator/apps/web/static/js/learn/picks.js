// The algorithms of a race: chips by family; below them a field for any other name of the command line.

import { button, fill, h, toast } from "../dom.js";
import { makeSettings } from "./settings.js";

const FIRST = ["cfr", "cfr+", "dcfr", "pcfr+"];
const MOST = 8;
const OWN = "Yours";
const HOLDER = "another, such as dcfr:1.5,0,4 or mccfr:robust2,batch=100";

export function makePicks(algorithms) {
  const picks = new Picks(algorithms);
  picks.draw();
  return { element: picks.element, chosen: () => [...picks.chosen] };
}

class Picks {
  constructor(algorithms) {
    this.known = algorithms.flatMap(({ group, variants, ...one }) =>
      [one, ...variants].map((row) => ({ ...row, group })),
    );
    this.chosen = new Set(JSON.parse(localStorage.getItem("algorithms") ?? "null") ?? FIRST);
    this.settings = makeSettings(algorithms, (name) => this.addOwn(name));
    this.element = h("div", { class: "picks" });
  }

  // all algorithms to choose from, the user's own included
  all() {
    const own = [...this.chosen].filter((name) => !this.known.some((entry) => entry.name === name));
    return [...this.known, ...own.map((name) => ({ name, summary: "your own", group: OWN }))];
  }

  draw() {
    const all = this.all();
    const [first, ...others] = [...new Set(all.map(({ group }) => group))].filter((group) => group !== OWN);
    const row = (group) =>
      this.row(
        group,
        all.filter((entry) => entry.group === group),
      );
    const isOther = ({ name, group }) => others.includes(group) && this.chosen.has(name);
    const open = this.element.querySelector("details")?.open ?? all.some(isOther);
    const summary = h("summary", {}, `${others.join(", ")}, or any other by name`);
    const details = h(
      "details",
      { open },
      summary,
      h("div", { class: "picks" }, others.map(row), this.settings, this.byName()),
    );
    fill(this.element, row(first), all.length > this.known.length && row(OWN), details);
  }

  row(group, entries) {
    const properties = { class: "chips", role: "group", "aria-label": group };
    const chips = entries.map((entry) => this.chip(entry));
    return h("div", properties, h("span", { class: "label" }, group), chips);
  }

  chip({ name, summary }) {
    const pressed = () => String(this.chosen.has(name));
    const onclick = () => {
      if (this.chosen.has(name)) this.chosen.delete(name);
      else this.add(name);
      this.save();
      chip.setAttribute("aria-pressed", pressed());
    };
    const chip = button(name, onclick, { class: "chip", title: summary, "aria-pressed": pressed() });
    return chip;
  }

  byName() {
    const add = () => this.addOwn(input.value.trim());
    const onkeydown = (event) => event.key === "Enter" && add();
    const text = { type: "text", placeholder: HOLDER, maxLength: 60, spellcheck: false };
    const input = h("input", { ...text, "aria-label": "Another algorithm", onkeydown });
    const label = h("span", { class: "label" }, "By name");
    return h("div", { class: "chips add" }, label, input, button("Add", add, { class: "chip" }));
  }

  addOwn(name) {
    if (!name || !this.add(name)) return;
    this.save();
    this.draw();
  }

  add(name) {
    if (this.chosen.size < MOST) return this.chosen.add(name);
    toast("At most eight at a time.");
    return null;
  }

  save() {
    localStorage.setItem("algorithms", JSON.stringify([...this.chosen]));
  }
}
