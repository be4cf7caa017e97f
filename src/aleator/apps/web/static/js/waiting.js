// A bar for what the server computes while a page waits for it.

import { h } from "./dom.js";

const EVERY = 400; // milliseconds

// what an action comes to; meanwhile the bar shows what `ask` says of how far it is, which may fail without harm
export async function watched(bar, ask, action) {
  const look = async () => {
    const { done } = await ask().catch(() => ({ done: null }));
    if (done !== null) bar.value = done;
  };
  const timer = setInterval(look, EVERY);
  try {
    return await action();
  } finally {
    clearInterval(timer);
  }
}

export const waitBar = (label) => h("progress", { max: 1, "aria-label": label });

// three dots that hop while something is under way
export const waitDots = () => h("span", { class: "thinking-dots" }, h("i"), h("i"), h("i"));
