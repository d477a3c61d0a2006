import type { Snapshot } from "../model/index.ts";
import { CHANNELS, type Channel } from "./channels.ts";
import { FlarewireError } from "./errors.ts";
import { projectSnapshot } from "./view/view.ts";

export const PLANS = ["free", "pro"] as const;
export type Plan = (typeof PLANS)[number];

/** Channels that only the plan pro includes. */
export const PRO_CHANNELS: readonly Channel[] = ["flares.pro", "candles"];

const FREE_CHANNELS: readonly Channel[] = CHANNELS.filter((channel) => !PRO_CHANNELS.includes(channel));

/** Returns a plan's channels, in the order of {@link CHANNELS}; all without keys. */
export function channelsOfPlan(plan: Plan | undefined): readonly Channel[] {
  return plan === "free" ? FREE_CHANNELS : CHANNELS;
}

/** Returns what a plan may see, without other lists and explanations. Reuses unchanged parts. */
export function snapshotOfPlan(snapshot: Snapshot, plan: Plan | undefined): Snapshot {
  if (plan !== "free") return snapshot;
  const { free, finished_trending } = snapshot.flares;
  const { explanations } = projectSnapshot(snapshot, FREE_CHANNELS);
  return { ...snapshot, flares: { free, pro: [], finished_trending }, explanations };
}

/** Whether the second plan has less than the first. */
export function isLowered(from: Plan, to: Plan): boolean {
  return PLANS.indexOf(to) < PLANS.indexOf(from);
}

/** Throws `forbidden` if a mirror's plan lacks a channel: a mirror serves all. */
export function checkMirrorPlan(plan: Plan | undefined): void {
  if (channelsOfPlan(plan).length === channelsOfPlan(undefined).length) return;
  const message = `mirror requires every channel, but the plan is ${plan}; use a key of the plan pro`;
  throw new FlarewireError("forbidden", message, { field: "mirror", bound: "pro" });
}
