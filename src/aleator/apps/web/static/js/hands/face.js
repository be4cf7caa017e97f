// Faces of players: a coloured head, whose eyes and mouth say how strong it is.

import { s } from "../dom.js";

const MOUTHS = {
  0: "M12 25 q6 5 12 0",
  1: "M11 24 q7 7 14 0",
  2: "M13 26 q5 2 10 0",
  3: "M12 26 q7 3 12 -2",
  4: "M13 26 h10",
  5: "M13 27 q5 -3 10 0",
};

// `hue` in degrees; level 0 is you, 5 the strongest
export function face({ face: hue = 210, level = 5 }, size = 40) {
  const [eyes, brows] = [level >= 4 ? 1.7 : 2.3, level >= 3];
  return s(
    "svg",
    { class: "face", viewBox: "0 0 36 36", width: size, height: size, "aria-hidden": "true" },
    s("circle", { cx: 18, cy: 18, r: 17, fill: `hsl(${hue} 52% 46%)` }),
    s("circle", { cx: 18, cy: 20, r: 12.5, fill: `hsl(${hue} 60% 82%)` }),
    [13.5, 22.5].map((x) => s("circle", { cx: x, cy: 18, r: eyes, fill: "#26211c" })),
    brows && s("path", { d: "M10.5 14.5 l5 1.4 M25.5 14.5 l-5 1.4", stroke: "#26211c", "stroke-width": 1.4 }),
    s("path", { d: MOUTHS[level] ?? MOUTHS[5], stroke: "#26211c", "stroke-width": 1.6, fill: "none" }),
  );
}

export const YOU = { face: 168, level: 0 };
