// Elements, numbers as people read them, and small helpers that all pages share.

const SVG = "http://www.w3.org/2000/svg";

function set(element, properties) {
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "class") element.setAttribute("class", value);
    else if (name === "style") for (const [key, text] of Object.entries(value)) element.style.setProperty(key, text);
    else if (name === "dataset") Object.assign(element.dataset, value);
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name in element && !name.startsWith("aria") && !(element instanceof SVGElement) && name !== "list" && name !== "form")
      element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
}

function add(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
  return element;
}

// h("button", { class: "primary", onclick: go }, "Go"): an element with properties, listeners and children.
export function h(tag, properties, ...children) {
  const element = document.createElement(tag);
  set(element, properties);
  return add(element, children);
}

export function s(tag, properties, ...children) {
  const element = document.createElementNS(SVG, tag);
  set(element, properties);
  return add(element, children);
}

export function fill(element, ...children) {
  element.replaceChildren();
  return add(element, children);
}

export function number(value, digits = 3) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1000) return Math.round(value).toLocaleString("en");
  if (size < 1e-3) return value.toExponential(1).replaceAll("-", "−");
  return String(Number(value.toPrecision(digits))).replace("-", "−");
}

// an amount of chips: less than a thousandth of one is nothing
export function chips(value, digits = 3) {
  return number(Math.abs(value) < 1e-3 && value !== null ? 0 : value, digits);
}

export function signed(value, digits = 2) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  const text = Math.abs(value) >= 100 ? Math.abs(value).toFixed(0) : Math.abs(value).toFixed(digits);
  if (Number(text) === 0) return text;
  return (value < 0 ? "−" : "+") + text;
}

export function percent(share, digits = 0) {
  if (share === null || share === undefined || Number.isNaN(share)) return "–";
  return `${(100 * share).toFixed(digits)} %`;
}

// a share that may be tiny, such as an exploitability: two digits that count
export function precise(share) {
  if (share === null || share === undefined || Number.isNaN(share)) return "–";
  return `${number(100 * share, 2)} %`;
}

export function bytes(count) {
  if (count >= 2 ** 30) return `${(count / 2 ** 30).toFixed(2)} GB`;
  return count >= 2 ** 20 ? `${(count / 2 ** 20).toFixed(count < 10 * 2 ** 20 ? 1 : 0)} MB` : `${Math.ceil(count / 2 ** 10)} kB`;
}

export function seconds(time) {
  if (time === null || time === undefined || !Number.isFinite(time)) return "–";
  if (time < 0.1) return `${Math.max(1, Math.round(1000 * time))} ms`;
  if (time < 100) return `${time.toFixed(time < 10 ? 1 : 0)} s`;
  return time < 5400 ? `${(time / 60).toFixed(1)} min` : `${(time / 3600).toFixed(1)} h`;
}

export function ago(time) {
  const passed = Date.now() / 1000 - time;
  if (passed < 60) return "just now";
  if (passed < 3600) return `${Math.floor(passed / 60)} min ago`;
  if (passed < 86400) return `${Math.floor(passed / 3600)} h ago`;
  return new Date(1000 * time).toLocaleDateString("en", { day: "numeric", month: "short", year: "numeric" });
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

// A row of choices of which one is taken; arrow keys move.
export function choices(label, options, value, onchange) {
  const name = `choice-${Math.random().toString(36).slice(2)}`;
  const group = h("div", { class: "choices", role: "radiogroup", "aria-label": label });
  for (const [key, text] of options) {
    const input = h("input", { type: "radio", name, value: key, checked: key === value, onchange: () => onchange(key) });
    group.append(h("label", {}, input, h("span", {}, text)));
  }
  return group;
}

export function field(label, control, hint) {
  return h("label", { class: "field" }, h("span", { class: "label" }, label), control, hint && h("small", {}, hint));
}
