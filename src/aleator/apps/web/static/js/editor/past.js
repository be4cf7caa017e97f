// What a spot was before each change, to go back to. Changes in quick succession (a drag, a word) are one.

const SOON = 600; // milliseconds
const MOST = 100;

export function makePast(now = () => Date.now()) {
  const before = [];
  let last = -Infinity;

  // keeps a spot if it differs from the one that follows it
  function keep(old, next) {
    if (JSON.stringify(old) === JSON.stringify(next)) return;
    const time = now();
    if (time - last > SOON) before.push(JSON.parse(JSON.stringify(old)));
    if (before.length > MOST) before.shift();
    last = time;
  }

  function take() {
    last = -Infinity;
    return before.pop() ?? null;
  }

  return { keep, take, isEmpty: () => before.length === 0 };
}
