// Elements, and small parts that all pages share.

const SVG = "http://www.w3.org/2000/svg";
const ATTRIBUTES = new Set(["list", "form"]); // properties of these names cannot be set
const SPECIAL = {
  class: (element, value) => element.setAttribute("class", value),
  style: (element, value) => Object.entries(value).forEach(([key, text]) => element.style.setProperty(key, text)),
  dataset: (element, value) => Object.assign(element.dataset, value),
};

const isAbsent = (value) => value === undefined || value === null || value === false;

function isProperty(element, name) {
  return name in element && !name.startsWith("aria") && !ATTRIBUTES.has(name) && !(element instanceof SVGElement);
}

function set(element, name, value) {
  if (SPECIAL[name]) SPECIAL[name](element, value);
  else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
  else if (isProperty(element, name)) element[name] = value;
  else element.setAttribute(name, value === true ? "" : value);
}

function build(element, properties, children) {
  for (const [name, value] of Object.entries(properties ?? {})) if (!isAbsent(value)) set(element, name, value);
  return add(element, children);
}

function add(element, children) {
  for (const child of children.flat(Infinity)) {
    if (!isAbsent(child)) element.append(child instanceof Node ? child : String(child));
  }
  return element;
}

// h("button", { class: "primary", onclick: go }, "Go"): an element with properties, listeners and children.
export const h = (tagName, properties, ...children) => build(document.createElement(tagName), properties, children);

export const s = (tagName, properties, ...children) =>
  build(document.createElementNS(SVG, tagName), properties, children);

export function fill(element, ...children) {
  element.replaceChildren();
  return add(element, children);
}

export const button = (children, onclick, properties = {}) =>
  h("button", { type: "button", onclick, ...properties }, children);

export const tag = (text, kind = "", properties = {}) =>
  h("span", { class: kind ? `tag ${kind}` : "tag", ...properties }, text);

export const dot = (colour) => h("i", { class: "dot", style: { background: colour } });

// names with their colours, as under a chart
export const legendItems = (names, colours) =>
  names.map((name, at) => h("span", {}, h("i", { style: { background: colours[at] } }), name));

export const titleRow = (...children) => h("div", { class: "title-row" }, children);

export const panel = (kind, ...children) => h("section", { class: kind ? `panel ${kind}` : "panel" }, children);

export const muted = (...children) => h("p", { class: "muted" }, children);

export const small = (...children) => h("p", { class: "muted small" }, children);

export const fact = (title, text, kind) => h("div", {}, h("dt", {}, title), h("dd", { class: kind }, text));

export const table = (properties, heads, rows) =>
  h("table", properties, h("thead", {}, h("tr", {}, heads)), h("tbody", {}, rows));

export const head = (text, kind) => h("th", { class: kind }, text);

export function field(label, control, hint) {
  return h("label", { class: "field" }, h("span", { class: "label" }, label), control, hint && h("small", {}, hint));
}

// A row of choices of which one is taken; arrow keys move.
export function choices(label, options, value, onchange) {
  const name = `choice-${Math.random().toString(36).slice(2)}`;
  const choice = ([key, text]) => {
    const properties = { type: "radio", name, value: key, checked: key === value, onchange: () => onchange(key) };
    return h("label", {}, h("input", properties), h("span", {}, text));
  };
  return h("div", { class: "choices", role: "radiogroup", "aria-label": label }, options.map(choice));
}

export function debounce(call, wait) {
  let timer = 0;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => call(...values), wait);
  };
}

export function toast(text, kind = "info") {
  const note = h("div", { class: `toast ${kind}` }, text);
  document.getElementById("toasts").append(note);
  setTimeout(() => note.remove(), kind === "error" ? 8000 : 4000);
}

// does something that may be refused; the refusal is shown
export async function attempt(action) {
  try {
    await action();
    return true;
  } catch (error) {
    toast(error.message, "error");
    return false;
  }
}

// whether a key was pressed for the page, and not for a field or with a modifier
export function isPlainKey(event, fields = "input, textarea, select") {
  return !event.target.closest(fields) && !event.ctrlKey && !event.metaKey && !event.altKey;
}
