import { OTHER_GROUPS, type Snapshot, withFlares } from "../model/index.ts";
import { CHANNELS, type Channel, matchChannels } from "./channels.ts";
import { FlarewireError } from "./errors.ts";
import { projectSnapshot } from "./view/view.ts";

export const PLANS = ["free", "pro"] as const;
export type Plan = (typeof PLANS)[number];

/** Channels that only the plan pro includes. */
const PRO_CHANNELS: readonly Channel[] = [
  "flares.pro",
  ...OTHER_GROUPS.map((group) => `flares.${group}.pro` as const),
  "candles",
];

const FREE_CHANNELS: readonly Channel[] = CHANNELS.filter((channel) => !PRO_CHANNELS.includes(channel));

/**
 * Returns a plan's channels, in the order of {@link CHANNELS}. `undefined`: the server has no keys,
 * so all.
 */
export function channelsOfPlan(plan: Plan | undefined): readonly Channel[] {
  return plan === "free" ? FREE_CHANNELS : CHANNELS;
}

/**
 * Returns the snapshot with only the flares and explanations that a plan may see. Does not limit
 * the candles. Reuses unchanged parts.
 */
export function snapshotOfPlan(snapshot: Snapshot, plan: Plan | undefined): Snapshot {
  if (plan !== "free") return snapshot;
  const { explanations } = projectSnapshot(snapshot, FREE_CHANNELS);
  return withFlares({ ...snapshot, explanations }, (flares) => ({ ...flares, pro: [] }));
}

/** The channels that a client may follow: its plan's, limited to those that its key names. */
export interface Rights {
  /** `undefined`: the server has no keys. */
  readonly plan: Plan | undefined;
  /** Names and patterns. Default: no further limit. */
  readonly channels?: readonly string[] | undefined;
}

/** The rights of a client on a server without keys. */
export const ALL_RIGHTS: Rights = { plan: undefined };

/** Returns the channels that a client may follow, in the order of {@link CHANNELS}. */
export function permittedChannels({ plan, channels }: Rights): readonly Channel[] {
  const ofPlan = channelsOfPlan(plan);
  if (!channels) return ofPlan;
  const named = new Set(channels.flatMap(matchChannels));
  return ofPlan.filter((channel) => named.has(channel));
}

/** Whether `to` lacks a channel that `from` permits. */
export function isLowered(from: Rights, to: Rights): boolean {
  const left = permittedChannels(to);
  return permittedChannels(from).some((channel) => !left.includes(channel));
}

/** Throws `forbidden` unless the rights include every channel, because a mirror serves them all. */
export function checkMirrorRights(rights: Rights): void {
  if (permittedChannels(rights).length === CHANNELS.length) return;
  const { plan, channels } = rights;
  const has = channels ? `the key is limited to ${channels.join(", ")}` : `the plan is ${plan}`;
  const message = `mirror requires every channel, but ${has}; use a key with the "pro" plan and no limits`;
  throw new FlarewireError("forbidden", message, { field: "mirror", bound: "pro" });
}
