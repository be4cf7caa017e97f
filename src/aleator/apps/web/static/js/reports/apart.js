// Solutions whose names tell them apart: with what differs between those of one name, else with when they were solved,
// and with a number where even the second is the same.

import { describeSpot } from "../spot.js";

const RANGES = ["OOP", "IP"]; // too long for a name

// the jobs with such names
export function toldApart(jobs) {
  const withSpots = renamed(jobs, (job, alike) => [job.name, ...differences(job, alike)].join(" · "));
  const withTimes = renamed(withSpots, ({ name, created }) => `${name} · ${timeOf(created)}`);
  return renamed(withTimes, (job, alike) => `${job.name} · no. ${alike.indexOf(job) + 1}`);
}

// the jobs with new names for those that share name and board with others
function renamed(jobs, nameOf) {
  const key = ({ name, spot }) => `${name} (${spot.board})`;
  const groups = new Map();
  for (const job of jobs) groups.set(key(job), [...(groups.get(key(job)) ?? []), job]);
  return jobs.map((job) => {
    const alike = groups.get(key(job));
    return alike.length > 1 ? { ...job, name: nameOf(job, alike) } : job;
  });
}

// what a spot has in words and others of its group have otherwise
function differences({ spot }, alike) {
  const others = alike.map((job) => new Map(describeSpot(job.spot)));
  return describeSpot(spot)
    .filter(([title, text]) => !RANGES.includes(title) && others.some((other) => other.get(title) !== text))
    .map(([title, text]) => `${title.toLowerCase()} ${text}`);
}

const timeOf = (created) => new Date(1000 * created).toLocaleString("en", { dateStyle: "medium", timeStyle: "medium" });
