// Numbers as people read them.

const isMissing = (value) => value === null || value === undefined || Number.isNaN(value);
const MINUS = "−";

export function number(value, digits = 3) {
  if (isMissing(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1000) return Math.round(value).toLocaleString("en");
  if (size < 1e-3) return value.toExponential(1).replaceAll("-", MINUS);
  return String(Number(value.toPrecision(digits))).replace("-", MINUS);
}

// an amount of chips: less than a thousandth of one is nothing
export function chips(value, digits = 3) {
  return number(value !== null && Math.abs(value) < 1e-3 ? 0 : value, digits);
}

// how numbers of a column are written: all with as many decimals as the largest one needs
export function column(values) {
  const largest = Math.max(0, ...values.filter((value) => !isMissing(value)).map(Math.abs));
  const decimals = largest >= 1000 ? 0 : largest >= 10 ? 1 : largest >= 1 ? 2 : 3;
  return (value) => (isMissing(value) ? "–" : fixed(value, decimals));
}

// a number with so many decimals
function fixed(value, decimals) {
  const written = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  const text = (size) => size.toLocaleString("en", written);
  const shown = text(Math.abs(value));
  return value < 0 && shown !== text(0) ? MINUS + shown : shown;
}

export function signed(value, digits = 2) {
  if (isMissing(value)) return "–";
  const size = Math.abs(value);
  const text = size >= 1000 ? Math.round(size).toLocaleString("en") : size.toFixed(size >= 100 ? 0 : digits);
  if (Number(text) === 0) return text;
  return (value < 0 ? MINUS : "+") + text;
}

// how far two numbers are apart as they are shown: the second less the first, both rounded
export const apart = (first, second, digits = 0) =>
  signed(Number(second.toFixed(digits)) - Number(first.toFixed(digits)), digits);

// a number that becomes another, such as "51.36 → 51.15 (−0.21)"
export function changed(first, second) {
  if (isMissing(first) || isMissing(second)) return `${chips(first)} → ${chips(second)}`;
  const largest = Math.max(Math.abs(first), Math.abs(second));
  const digits = largest >= 1000 ? 1 : largest >= 10 ? 2 : 3;
  return `${fixed(first, digits)} → ${fixed(second, digits)} (${apart(first, second, digits)})`;
}

export function percent(share, digits = 0) {
  return isMissing(share) ? "–" : `${(100 * share).toFixed(digits)} %`;
}

// a share that may be tiny, such as an exploitability: two digits that count
export function precise(share) {
  return isMissing(share) ? "–" : `${number(100 * share, 2)} %`;
}

export function bytes(count) {
  const [kilo, mega, giga] = [2 ** 10, 2 ** 20, 2 ** 30];
  if (count >= giga) return `${(count / giga).toFixed(2)} GB`;
  if (count >= mega) return `${(count / mega).toFixed(count < 10 * mega ? 1 : 0)} MB`;
  return `${Math.ceil(count / kilo)} kB`;
}

export function seconds(time) {
  if (!Number.isFinite(time)) return "–";
  if (time < 0.1) return `${Math.max(1, Math.round(1000 * time))} ms`;
  if (time < 100) return `${time.toFixed(time < 10 ? 1 : 0)} s`;
  return time < 5400 ? `${(time / 60).toFixed(1)} min` : `${(time / 3600).toFixed(1)} h`;
}

// how long ago a time was, in seconds since 1970
export function ago(time, now = Date.now() / 1000) {
  const passed = now - time;
  if (passed < 60) return "just now";
  if (passed < 3600) return `${Math.floor(passed / 60)} min ago`;
  if (passed < 86400) return `${Math.floor(passed / 3600)} h ago`;
  return new Date(1000 * time).toLocaleDateString("en", { day: "numeric", month: "short", year: "numeric" });
}

export const capitalised = (word) => word[0].toUpperCase() + word.slice(1);

// what each action is taken with, such as "fold 20 %, call 80 %"
export function mixText(actions, shares, separator = ", ") {
  return shares.map((share, at) => `${actions[at].name} ${percent(share)}`).join(separator);
}
