// The upper part of a public tree: width of a branch is how often it is taken; a decision shows its policy hand by hand.

import { actionColours, stack } from "./cards.js";
import { fill, h, percent, s, signed } from "./dom.js";

const KINDS = { fold: "fold", check: "call", call: "call", liar: "challenge" };
const [STEP_X, ROW, PAD] = [92, 23, 14];

export function makeTree() {
  const svg = s("svg", { class: "tree", role: "img", "aria-label": "The public tree" });
  const panel = h("div", { class: "policy-panel" });
  const note = h("p", { class: "muted small" });
  const element = h("div", {}, h("div", { class: "tree-scroll", tabIndex: 0, role: "region", "aria-label": "The tree, scrollable" }, svg), note, panel);
  let tree = null;
  let chosen = 0;
  let now = null;
  let places = new Map();
  let marks = new Map();

  function layout() {
    places = new Map();
    const children = new Map(tree.nodes.map((node) => [node.id, []]));
    for (const node of tree.nodes) if (children.has(node.parent) && node.id !== node.parent && node.parent >= 0) children.get(node.parent).push(node);
    let row = 0;
    let deepest = 0;
    const visit = (node, depth) => {
      deepest = Math.max(deepest, depth);
      const below = children.get(node.id).map((child) => visit(child, depth + 1));
      const y = below.length ? (below[0] + below.at(-1)) / 2 : PAD + ROW * (row += 1) - ROW / 2;
      places.set(node.id, { x: PAD + 8 + STEP_X * depth, y });
      return y;
    };
    visit(tree.nodes[0], 0);
    const [width, height] = [2 * PAD + STEP_X * deepest + 96, 2 * PAD + ROW * row];
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("width", width);
    svg.setAttribute("height", height);
  }

  function draw() {
    layout();
    marks = new Map();
    const [edges, nodes] = [s("g", { class: "edges" }), s("g", {})];
    for (const node of tree.nodes) {
      const at = places.get(node.id);
      const above = node.id ? places.get(node.parent) : null;
      if (above) {
        const middle = (at.x + above.x) / 2;
        const edge = s("path", { d: `M${above.x} ${above.y}C${middle} ${above.y} ${middle} ${at.y} ${at.x} ${at.y}` });
        edges.append(edge);
        marks.set(node.id, edge);
        nodes.append(s("text", { class: "edge-label", x: at.x - 10, y: at.y - 6, "text-anchor": "end" }, node.label));
      }
      const shape = node.actor >= 0 ? s("circle", { cx: at.x, cy: at.y, r: 6.5 }) : s("rect", { x: at.x - 4, y: at.y - 4, width: 8, height: 8, rx: node.chance ? 4 : 1 });
      const mark = s("g", { class: `tree-node p${node.actor} ${node.id === chosen ? "chosen" : ""}` }, shape, node.cut && s("text", { x: at.x + 11, y: at.y + 4 }, "…"));
      if (node.actor >= 0) {
        mark.setAttribute("tabindex", 0);
        mark.setAttribute("role", "button");
        mark.setAttribute("aria-label", `player ${node.actor + 1} decides${node.label ? ` after ${node.label}` : ""}`);
        const choose = () => {
          chosen = node.id;
          draw();
          paint();
        };
        mark.addEventListener("click", choose);
        mark.addEventListener("keydown", (event) => (event.key === "Enter" || event.key === " ") && (event.preventDefault(), choose()));
      }
      nodes.append(mark);
    }
    svg.replaceChildren(edges, nodes);
  }

  // how often each drawn branch is taken, each hand as likely as any other
  function reach() {
    const found = new Map([[0, 1]]);
    const place = new Map();
    for (const node of tree.nodes) if (node.id) place.set(node.parent, [...(place.get(node.parent) ?? []), node.id]);
    for (const node of tree.nodes) {
      const below = place.get(node.id) ?? [];
      const block = now?.policy[node.id];
      below.forEach((child, at) => {
        const share = block && block[at] && below.length === block.length ? block[at].reduce((a, b) => a + b, 0) / block[at].length : 1 / below.length;
        found.set(child, (found.get(node.id) ?? 0) * share);
      });
    }
    return found;
  }

  function paint() {
    const often = reach();
    for (const [id, edge] of marks) edge.style.strokeWidth = `${(0.8 + 9 * Math.sqrt(often.get(id) ?? 0)).toFixed(2)}px`;
    const node = tree.nodes.find((one) => one.id === chosen) ?? tree.nodes[0];
    const block = now?.policy[node.id];
    const colours = actionColours(node.actions.map((name) => ({ kind: KINDS[name] ?? "raise" })));
    note.textContent = `${tree.num_nodes.toLocaleString("en")} public states, ${tree.num_infostates.toLocaleString("en")} infostates${tree.nodes.length < tree.num_nodes ? `; the upper ${tree.nodes.length} states are drawn` : ""}.${now ? ` The game is worth ${signed(now.value, 4)} to the first player.` : ""}`;
    if (node.actor < 0) return fill(panel, h("p", { class: "muted" }, "Choose a decision in the tree."));
    const rows = node.hands.map((hand, index) => {
      const mix = block ? block.map((row) => row[index]) : node.actions.map(() => 1 / node.actions.length);
      return h("tr", {}, h("th", {}, hand), h("td", { class: "bar" }, stack(mix, colours)), h("td", {}, mainText(mix, node.actions)));
    });
    fill(panel, h("h3", {}, `Player ${node.actor + 1} ${node.id ? `after “${node.label}”` : "to begin"}`), h("p", { class: "legend" }, node.actions.slice(0, 14).map((name, at) => h("span", {}, h("i", { style: { background: colours[at] } }), name))), h("table", { class: "policy" }, h("tbody", {}, rows)));
  }

  return {
    element,
    set(next) {
      tree = next;
      chosen = tree.nodes.find((node) => node.actor >= 0)?.id ?? 0;
      now = null;
      draw();
      paint();
      const box = element.firstChild;
      box.scrollTop = places.get(0).y - box.clientHeight / 2;
    },
    policy(next) {
      if (!tree || next === now) return;
      now = next;
      paint();
    },
  };
}

function mainText(mix, actions) {
  const best = mix.indexOf(Math.max(...mix));
  return `${actions[best]} ${percent(mix[best])}`;
}
