// The settings of an algorithm as a form, made from what the server says can be set; the result is a name to race.

import { button, field, fill, h } from "../dom.js";

// the name that says what was set: values by the names of settings, as texts; empty or absent for the default
export function nameWith({ name, settings }, values) {
  const parts = settings.filter(({ form }) => form !== "slash").map((one) => part(one, values[one.name] ?? ""));
  const after = settings.filter(({ form }) => form === "slash").map((one) => chosen(one, values[one.name] ?? ""));
  const behind = parts.filter(Boolean).join(",");
  return [behind ? `${name}:${behind}` : name, ...after.filter(Boolean)].join("/");
}

const chosen = (one, value) => (value === String(one.default) ? "" : value);

function part(one, value) {
  const text = chosen(one, value);
  if (!text) return "";
  if (one.form === "attached") return `${one.name}${text}`;
  const alone = one.form === "word" || (one.form === "placed" && one.kind === "str");
  return alone ? text : `${one.name}=${text}`;
}

// onadd is called with the name when it is wanted
export function makeSettings(algorithms, onadd) {
  const able = algorithms.filter(({ settings }) => settings.some(({ form }) => form !== "slash"));
  if (!able.length) return null;
  const fields = h("div", { class: "fields" });
  const result = h("output", { class: "mono" });
  let values = {};
  const current = () => able.find(({ name }) => name === select.value) ?? able[0];
  const show = () => fill(result, nameWith(current(), values));

  function control(one) {
    const set = (value) => {
      values = { ...values, [one.name]: value };
      show();
    };
    const label = { "aria-label": one.name, title: one.help };
    if (one.choices.length === 1) {
      const onchange = (event) => set(event.target.checked ? one.choices[0] : "");
      return h("input", { type: "checkbox", checked: one.default, disabled: one.default, onchange, ...label });
    }
    if (one.choices.length) {
      const option = (value) => h("option", { value, selected: value === one.default }, value);
      return h("select", { onchange: (event) => set(event.target.value), ...label }, one.choices.map(option));
    }
    const isNumber = one.kind !== "str" && !one.infinite;
    const limits = { min: one.least, max: one.most, step: one.kind === "int" ? 1 : "any" };
    const oninput = (event) => set(event.target.value.trim());
    const shape = isNumber ? { type: "number", ...limits } : { type: "text", maxLength: 30, spellcheck: false };
    return h("input", { ...shape, placeholder: String(one.default), oninput, ...label });
  }

  function draw() {
    values = {};
    fill(
      fields,
      current().settings.map((one) => field(one.name, control(one), one.unit)),
    );
    show();
  }

  const options = able.map(({ name }) => h("option", { value: name }, name));
  const select = h("select", { "aria-label": "Algorithm to set", onchange: draw }, options);
  const add = button("Add", () => onadd(nameWith(current(), values)), { class: "chip" });
  const row = h("div", { class: "chips add" }, h("span", { class: "label" }, "Settings"), select, result, add);
  draw();
  return h("div", { class: "picks" }, row, fields);
}
