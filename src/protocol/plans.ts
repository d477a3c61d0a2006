import type { Snapshot } from "../model/index.ts";
import { CHANNELS, type Channel } from "./channels.ts";
import { FlarewireError } from "./errors.ts";
import { projectSnapshot } from "./view/view.ts";

/** What a key may grant, the least first. */
export const PLANS = ["free", "pro"] as const;
export type Plan = (typeof PLANS)[number];

/** The channels that only the plan pro has. */
export const PRO_CHANNELS: readonly Channel[] = ["flares.pro"];

const FREE_CHANNELS: readonly Channel[] = CHANNELS.filter((channel) => !PRO_CHANNELS.includes(channel));

/** What a plan may follow; without a plan, where no keys are needed, everything. In the order of {@link CHANNELS}. */
export function channelsOfPlan(plan: Plan | undefined): readonly Channel[] {
  return plan === "free" ? FREE_CHANNELS : CHANNELS;
}

/**
 * The snapshot as a plan is shown it: lists of other plans are empty, and a flare that stands in no list that is left is not
 * explained. What is the same for the plan is the same object.
 */
export function snapshotOfPlan(snapshot: Snapshot, plan: Plan | undefined): Snapshot {
  if (plan !== "free") return snapshot;
  const { free, finished_trending } = snapshot.flares;
  const { explanations } = projectSnapshot(snapshot, FREE_CHANNELS);
  return { ...snapshot, flares: { free, pro: [], finished_trending }, explanations };
}

/** True where the second plan has less than the first. */
export function isLowered(from: Plan, to: Plan): boolean {
  return PLANS.indexOf(to) < PLANS.indexOf(from);
}

/** Throws FlarewireError `forbidden` for a mirror whose plan lacks a channel: a mirror serves all of them to others. */
export function checkMirrorPlan(plan: Plan | undefined): void {
  if (channelsOfPlan(plan).length === channelsOfPlan(undefined).length) return;
  const message = `mirror needs every channel, and the plan is ${plan}; bring a key of the plan pro`;
  throw new FlarewireError("forbidden", message, { field: "mirror", bound: "pro" });
}
