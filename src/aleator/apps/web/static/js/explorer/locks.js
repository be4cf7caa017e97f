// Node locking: fix what is played at a node, for all hands or some, and solve the rest again.

import { api } from "../api.js";
import { actionColours } from "../cards.js";
import { button, dot, field, fill, h, muted, small, toast } from "../dom.js";

const HELP =
  "Make these hands play a policy of your own (range text; “random” is all hands). Everything else is solved around it.";

export function makeLocks(job, go) {
  const locks = new Locks(job, go);
  return { element: locks.element, show: (node, handClass) => locks.show(node, handClass) };
}

// the locks with one more edit at a node; without an edit, the node as it plays
export function withEdit(locks, path, edit) {
  const others = locks.filter((lock) => lock.path !== path);
  const edits = locks.find((lock) => lock.path === path)?.edits ?? [];
  return [...others, { path, edits: edit ? [...edits, edit] : edits }];
}

export function describeEdits(edits) {
  const shares = (policy) => policy.map((share) => Math.round(100 * share)).join("/");
  return edits.map(({ hands, policy }) => `${hands}: ${shares(policy)}`).join("; ") || "as it plays";
}

class Locks {
  constructor(job, go) {
    Object.assign(this, { job, go, node: null, handClass: "AA" });
    this.key = `locks ${job.id}`;
    this.locks = JSON.parse(sessionStorage.getItem(this.key) ?? "[]");
    this.element = h("section", { class: "panel locks" });
  }

  show(node, handClass) {
    if (this.node?.path === node.path && this.handClass === handClass) return;
    Object.assign(this, { node, handClass });
    this.draw();
  }

  set(locks) {
    this.locks = locks;
    sessionStorage.setItem(this.key, JSON.stringify(locks));
    this.draw();
  }

  add(edit) {
    this.set(withEdit(this.locks, this.node.path, edit));
  }

  draw() {
    const { locks } = this;
    const open = locks.length > 0 || this.element.querySelector("details")?.open;
    const form = this.node.kind === "decision" ? this.form() : muted("Go to a decision to lock it.");
    const start = button("Solve again", () => this.resolve(start), { class: "primary" });
    const list = h(
      "ul",
      { class: "lock-list" },
      locks.map((lock) => this.item(lock)),
    );
    const title = h("summary", {}, h("h2", {}, "Lock and solve again"));
    fill(this.element, h("details", { open }, title, form, locks.length > 0 && [list, start]));
  }

  item(lock) {
    const { path, edits } = lock;
    const unlock = () => this.set(this.locks.filter((other) => other !== lock));
    return h(
      "li",
      {},
      button(path, () => this.go(path), { class: "link" }),
      ` ${describeEdits(edits)} `,
      button("✕", unlock, { class: "quiet", "aria-label": `Unlock ${path}` }),
    );
  }

  form() {
    const { actions } = this.node;
    const colours = actionColours(actions);
    const label = "Hands to lock, as a range";
    const hands = h("input", { type: "text", value: this.handClass, "aria-label": label, spellcheck: false });
    const inputs = actions.map(({ name }, index) => shareInput(name, index === actions.length - 1 ? 100 : 0));
    const mix = actions.map(({ name }, index) =>
      h("label", {}, dot(colours[index]), h("span", {}, name), inputs[index], "%"),
    );
    const lock = () =>
      this.lockHands(
        hands.value,
        inputs.map((input) => Number(input.value) / 100),
      );
    return [
      small(HELP),
      field("Hands", hands),
      h("div", { class: "lock-mix" }, mix),
      h(
        "p",
        { class: "row" },
        button("Lock these hands", lock),
        button("Lock all as they play", () => this.add(null), { class: "quiet" }),
      ),
    ];
  }

  lockHands(hands, policy) {
    if (policy.some((share) => share > 0)) this.add({ hands: hands.trim() || "random", policy });
    else toast("Give at least one action a share.", "error");
  }

  async resolve(start) {
    start.disabled = true;
    try {
      const name = `${this.job.name}, locked`.slice(0, 100);
      const made = await api.resolve(this.job.id, { name, locks: this.locks });
      sessionStorage.removeItem(this.key);
      location.hash = `#/solve/${made.id}`;
    } catch (error) {
      toast(error.message, "error");
      start.disabled = false;
    }
  }
}

const shareInput = (name, value) =>
  h("input", { type: "number", min: 0, max: 100, value, "aria-label": `${name}, per cent` });
