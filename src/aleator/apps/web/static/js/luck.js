// Luck as all pages say it: one definition, the same words, and parts that add up as they are shown.

export const LUCK =
  "Luck is what cards and dice brought: each draw counts as far as it is worth more or less than the mean of all that could " +
  "have been drawn. In the long run it comes to nothing.";

export const WITHOUT_LUCK = "Without luck";
export const AS_IT_WENT = "As it went";

// a number as it is written: the same but for its sign above and below 0
export const rounded = (value, digits = 0) => {
  const scale = 10 ** digits;
  const size = Math.round(Math.abs(value) * scale) / scale;
  return value < 0 ? -size : size;
};

// with how many digits numbers are written that shall add up: none where one of them is written with none
export const commonDigits = (values, digits) =>
  values.some((value) => rounded(Math.abs(value), digits) >= 100) ? 0 : digits;

// what luck was of a result, such that what is shown adds up: the result less the other parts, all of them rounded
export function luckOf(won, parts, digits = 0) {
  return rounded(
    parts.reduce((rest, part) => rest - rounded(part, digits), rounded(won, digits)),
    digits,
  );
}
