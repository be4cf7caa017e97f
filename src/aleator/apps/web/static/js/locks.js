// Node locking: fix what is played at a node, for all hands or some, and solve the rest again.

import { api } from "./api.js";
import { actionColours } from "./cards.js";
import { fill, h, toast } from "./dom.js";

export function makeLocks(job, go) {
  const key = `locks ${job.id}`;
  let locks = JSON.parse(sessionStorage.getItem(key) ?? "[]");
  const element = h("section", { class: "panel locks" });
  let node = null;
  let handClass = "AA";

  const save = () => sessionStorage.setItem(key, JSON.stringify(locks));
  const here = () => locks.find((lock) => lock.path === node.path);

  function add(edit) {
    if (!here()) locks.push({ path: node.path, edits: [] });
    if (edit) here().edits.push(edit);
    save();
    draw();
  }

  async function resolve(button) {
    button.disabled = true;
    try {
      const made = await api.resolve(job.id, { name: `${job.name}, locked`.slice(0, 100), locks });
      sessionStorage.removeItem(key);
      location.hash = `#/solve/${made.id}`;
    } catch (error) {
      toast(error.message, "error");
      button.disabled = false;
    }
  }

  function form() {
    const colours = actionColours(node.actions);
    const hands = h("input", { type: "text", value: handClass, "aria-label": "Hands to lock, as a range", spellcheck: false });
    const inputs = node.actions.map((action, index) => h("input", { type: "number", min: 0, max: 100, value: index === node.actions.length - 1 ? 100 : 0, "aria-label": `${action.name}, per cent` }));
    const set = () => {
      const policy = inputs.map((input) => Number(input.value) / 100);
      if (!policy.some((share) => share > 0)) toast("Give at least one action a share.", "error");
      else add({ hands: hands.value.trim() || "random", policy });
    };
    return [
      h("p", { class: "muted small" }, "Make these hands play a policy of your own (range text; “random” is all hands). Everything else is solved around it."),
      h("label", { class: "field" }, h("span", { class: "label" }, "Hands"), hands),
      h("div", { class: "lock-mix" }, node.actions.map((action, index) => h("label", {}, h("i", { class: "dot", style: { background: colours[index] } }), h("span", {}, action.name), inputs[index], "%"))),
      h("p", { class: "row" }, h("button", { type: "button", onclick: set }, "Lock these hands"), h("button", { type: "button", class: "quiet", onclick: () => add(null) }, "Lock all as they play")),
    ];
  }

  function draw() {
    const list = locks.map((lock, at) =>
      h("li", {}, h("button", { type: "button", class: "link", onclick: () => go(lock.path) }, lock.path), ` ${lock.edits.length ? lock.edits.map((edit) => `${edit.hands}: ${edit.policy.map((share) => Math.round(100 * share)).join("/")}`).join("; ") : "as it plays"} `, h("button", { type: "button", class: "quiet", "aria-label": `Unlock ${lock.path}`, onclick: () => {
        locks.splice(at, 1);
        save();
        draw();
      } }, "✕")),
    );
    const start = h("button", { type: "button", class: "primary", onclick: () => resolve(start) }, "Solve again");
    const open = locks.length > 0 || element.querySelector("details")?.open;
    fill(
      element,
      h("details", { open }, h("summary", {}, h("h2", {}, "Lock and solve again")), node.kind === "decision" ? form() : h("p", { class: "muted" }, "Go to a decision to lock it."), locks.length > 0 && [h("ul", { class: "lock-list" }, list), start]),
    );
  }

  return {
    element,
    show(next, name) {
      if (node?.path === next.path && handClass === name) return;
      node = next;
      handClass = name;
      draw();
    },
  };
}
