// As much of a browser as the modules of the pages need: elements that remember, storage, and a location.

class FakeNode {}

class FakeClasses {
  constructor(element) {
    this.element = element;
  }

  get all() {
    return (this.element.getAttribute("class") ?? "").split(" ").filter(Boolean);
  }

  add(name) {
    this.toggle(name, true);
  }

  remove(name) {
    this.toggle(name, false);
  }

  toggle(name, on) {
    const others = this.all.filter((one) => one !== name);
    this.element.setAttribute("class", (on ? [...others, name] : others).join(" "));
  }

  contains(name) {
    return this.all.includes(name);
  }
}

class FakeElement extends FakeNode {
  constructor(tagName) {
    super();
    Object.assign(this, { tagName, childNodes: [], attributes: new Map(), listeners: new Map(), dataset: {} });
    this.classList = new FakeClasses(this);
    this.style = { setProperty: (name, value) => (this.style[name] = value) };
  }

  append(...nodes) {
    this.childNodes.push(...nodes);
  }

  replaceChildren(...nodes) {
    this.childNodes = nodes;
  }

  remove() {
    this.isRemoved = true;
  }

  setAttribute(name, value) {
    this.attributes.set(name, String(value));
  }

  getAttribute(name) {
    return this.attributes.get(name) ?? null;
  }

  removeAttribute(name) {
    this.attributes.delete(name);
  }

  addEventListener(name, listener) {
    this.listeners.set(name, [...(this.listeners.get(name) ?? []), listener]);
  }

  // calls what listens; returns what the last listener returns
  fire(name, event = {}) {
    return (this.listeners.get(name) ?? []).map((listener) => listener({ target: this, ...event })).at(-1);
  }

  get textContent() {
    return this.childNodes.map((node) => (node instanceof FakeElement ? node.textContent : node)).join("");
  }

  set textContent(text) {
    this.childNodes = [text];
  }

  get lastChild() {
    return this.childNodes.at(-1);
  }

  // all elements below that fit
  all(fits) {
    const below = this.childNodes.filter((node) => node instanceof FakeElement);
    return below.flatMap((node) => [...(fits(node) ? [node] : []), ...node.all(fits)]);
  }

  tags(tagName) {
    return this.all((element) => element.tagName === tagName);
  }

  classes(name) {
    return this.all((element) => element.classList.contains(name));
  }

  querySelector(selector) {
    return this.all((element) => element.tagName === selector)[0] ?? null;
  }

  contains(other) {
    return other === this || this.all((element) => element === other).length > 0;
  }
}

// properties that elements have, so that they are set and not written as attributes
for (const name of [
  "value",
  "type",
  "disabled",
  "hidden",
  "checked",
  "title",
  "tabIndex",
  "open",
  "href",
  "selected",
]) {
  FakeElement.prototype[name] = undefined;
}

class FakeSvgElement extends FakeElement {}

class FakeStorage {
  constructor() {
    this.values = new Map();
  }

  getItem(key) {
    return this.values.get(key) ?? null;
  }

  setItem(key, value) {
    this.values.set(key, value);
  }

  removeItem(key) {
    this.values.delete(key);
  }
}

class FakeObserver {
  observe() {}
  disconnect() {}
}

// Makes the globals of a page; returns what tests look at.
export function installBrowser() {
  const toasts = new FakeElement("div");
  const document = {
    createElement: (tagName) => new FakeElement(tagName),
    createElementNS: (space, tagName) => new FakeSvgElement(tagName),
    getElementById: () => toasts,
    activeElement: null,
  };
  const page = { addEventListener() {}, removeEventListener() {} };
  const browser = { document, window: page, location: { hash: "" }, toasts };
  Object.assign(globalThis, browser, { Node: FakeNode, SVGElement: FakeSvgElement, ResizeObserver: FakeObserver });
  Object.assign(globalThis, { localStorage: new FakeStorage(), sessionStorage: new FakeStorage(), innerWidth: 1280 });
  return browser;
}

// Answers requests from a table of "METHOD path" -> value, or a function of the body; returns what was asked.
export function installServer(answers) {
  const asked = [];
  globalThis.fetch = async (path, { method, body }) => {
    asked.push({ method, path, body: body && JSON.parse(body) });
    const answer = answers[`${method} ${path}`];
    const value = typeof answer === "function" ? await answer(body && JSON.parse(body)) : answer;
    const status = value?.status ?? (value === undefined ? 404 : 200);
    return { ok: status < 400, status, json: async () => value?.json ?? value };
  };
  return asked;
}
