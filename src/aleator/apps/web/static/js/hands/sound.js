// Short sounds of cards and chips; off unless somebody turns them on.

import { button } from "../dom.js";

const KEY = "sound";
const TONES = { deal: 520, board: 640, bet: 220, raise: 240, call: 200, check: 140, fold: 110 };

export function makeSound() {
  let isOn = localStorage.getItem(KEY) === "on";
  let context = null;
  const label = () => (isOn ? "Sound on" : "Sound off");
  const element = button(label(), toggle, {
    class: "icon-button",
    "aria-label": "Sound",
    "aria-pressed": String(isOn),
  });

  function toggle() {
    isOn = !isOn;
    localStorage.setItem(KEY, isOn ? "on" : "off");
    element.textContent = label();
    element.setAttribute("aria-pressed", String(isOn));
  }

  function play(kind) {
    if (!isOn || !TONES[kind]) return;
    context ??= new AudioContext();
    const [tone, volume] = [context.createOscillator(), context.createGain()];
    tone.frequency.value = TONES[kind];
    volume.gain.setValueAtTime(0.08, context.currentTime);
    volume.gain.exponentialRampToValueAtTime(0.001, context.currentTime + 0.09);
    tone.connect(volume).connect(context.destination);
    tone.start();
    tone.stop(context.currentTime + 0.1);
  }

  return { element, play };
}
