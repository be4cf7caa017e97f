// The upper part of a public tree: width of a branch is how often it is taken; a decision shows its policy hand by hand.

import { actionColours, stack } from "../cards.js";
import { fill, h, legendItems, muted, s } from "../dom.js";
import { percent, signed } from "../format.js";
import { layOut, reachOf } from "./tree-layout.js";

const KINDS = { fold: "fold", check: "call", call: "call", liar: "challenge" };
const MOST_NAMES = 14;

export function makeTree() {
  const tree = new TreePicture();
  return { element: tree.element, set: (next) => tree.set(next), policy: (next) => tree.follow(next) };
}

class TreePicture {
  constructor() {
    Object.assign(this, { tree: null, chosen: 0, report: null, edges: new Map() });
    this.svg = s("svg", { class: "tree", role: "img", "aria-label": "The public tree" });
    this.panel = h("div", { class: "policy-panel" });
    this.note = h("p", { class: "muted small" });
    const label = "The tree, scrollable";
    this.scroll = h("div", { class: "tree-scroll", tabIndex: 0, role: "region", "aria-label": label }, this.svg);
    this.element = h("div", {}, this.scroll, this.note, this.panel);
  }

  set(tree) {
    this.tree = tree;
    this.chosen = tree.nodes.find((node) => node.actor >= 0)?.id ?? 0;
    this.report = null;
    const { places } = this.draw();
    this.paint();
    this.scroll.scrollTop = places.get(0).y - this.scroll.clientHeight / 2;
  }

  // shows the policy of a report: { value, policy: { node: [A, H] } }
  follow(report) {
    if (!this.tree || report === this.report) return;
    this.report = report;
    this.paint();
  }

  draw() {
    const { nodes } = this.tree;
    const layout = layOut(nodes);
    this.svg.setAttribute("viewBox", `0 0 ${layout.width} ${layout.height}`);
    this.svg.setAttribute("width", layout.width);
    this.svg.setAttribute("height", layout.height);
    const place = (id) => layout.places.get(id);
    const below = nodes.filter((node) => node.id);
    this.edges = new Map(below.map((node) => [node.id, edge(place(node.parent), place(node.id))]));
    const labels = below.map((node) => edgeLabel(node, place(node.id)));
    const marks = nodes.map((node) => this.mark(node, place(node.id)));
    this.svg.replaceChildren(s("g", { class: "edges" }, ...this.edges.values()), s("g", {}, labels, marks));
    return layout;
  }

  mark(node, { x, y }) {
    const kind = `tree-node p${node.actor} ${node.id === this.chosen ? "chosen" : ""}`;
    const more = node.cut && s("text", { x: x + 11, y: y + 4 }, "…");
    if (node.actor < 0) {
      const shape = s("rect", { x: x - 4, y: y - 4, width: 8, height: 8, rx: node.chance ? 4 : 1 });
      return s("g", { class: kind }, shape, more);
    }
    const label = `player ${node.actor + 1} decides${node.label ? ` after ${node.label}` : ""}`;
    const properties = {
      class: kind,
      tabindex: 0,
      role: "button",
      "aria-label": label,
      onclick: () => this.choose(node.id),
      onkeydown: (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        this.choose(node.id);
      },
    };
    return s("g", properties, s("circle", { cx: x, cy: y, r: 6.5 }), more);
  }

  choose(id) {
    this.chosen = id;
    this.draw();
    this.paint();
  }

  paint() {
    const { nodes } = this.tree;
    const reach = reachOf(nodes, this.report?.policy);
    for (const [id, path] of this.edges)
      path.style.strokeWidth = `${(0.8 + 9 * Math.sqrt(reach.get(id))).toFixed(2)}px`;
    this.note.textContent = this.describe();
    const node = nodes.find((one) => one.id === this.chosen) ?? nodes[0];
    if (node.actor < 0) fill(this.panel, muted("Choose a decision in the tree."));
    else fill(this.panel, policyPanel(node, this.report?.policy[node.id]));
  }

  describe() {
    const { tree, report } = this;
    const [states, infostates] = [tree.num_nodes, tree.num_infostates].map((count) => count.toLocaleString("en"));
    const drawn = tree.nodes.length < tree.num_nodes ? `; the upper ${tree.nodes.length} states are drawn` : "";
    const value = report ? ` The game is worth ${signed(report.value, 4)} to the first player.` : "";
    return `${states} public states, ${infostates} infostates${drawn}.${value}`;
  }
}

function edge(from, to) {
  const middle = (to.x + from.x) / 2;
  return s("path", { d: `M${from.x} ${from.y}C${middle} ${from.y} ${middle} ${to.y} ${to.x} ${to.y}` });
}

const edgeLabel = (node, { x, y }) =>
  s("text", { class: "edge-label", x: x - 10, y: y - 6, "text-anchor": "end" }, node.label);

// the policy of a decision, hand by hand; uniform while there is none
function policyPanel(node, block) {
  const colours = actionColours(node.actions.map((name) => ({ kind: KINDS[name] ?? "raise" })));
  const rows = node.hands.map((hand, index) => {
    const mix = block ? block.map((row) => row[index]) : node.actions.map(() => 1 / node.actions.length);
    const bar = h("td", { class: "bar" }, stack(mix, colours));
    return h("tr", {}, h("th", {}, hand), bar, h("td", {}, mainText(mix, node.actions)));
  });
  return [
    h("h3", {}, `Player ${node.actor + 1} ${node.id ? `after “${node.label}”` : "to begin"}`),
    h("p", { class: "legend" }, legendItems(node.actions.slice(0, MOST_NAMES), colours)),
    h("table", { class: "policy" }, h("tbody", {}, rows)),
  ];
}

function mainText(mix, actions) {
  const best = mix.indexOf(Math.max(...mix));
  return `${actions[best]} ${percent(mix[best])}`;
}
