import type { DataFreshness, Reset } from "../../sdk/index.ts";
import { formatSpan } from "../../text/span.ts";
import { formatTime, zoneName } from "../text/format.ts";
import type { Seen } from "./seen.ts";

interface Judgment {
  readonly mood: "good" | "wait" | "bad";
  readonly word: string;
}

export function judge(seen: Seen | undefined): Judgment {
  if (!seen) return { mood: "wait", word: "connecting" };
  const { connection, freshness } = seen;
  if (lacksKey(seen)) return { mood: "wait", word: "key needed" };
  if (connection.state === "closed") return { mood: "bad", word: "refused" };
  if (connection.state === "paused") return { mood: "wait", word: "paused" };
  if (!seen.view && connection.code === 503) return { mood: "wait", word: "no data yet" };
  if (seen.isOffline) return { mood: "bad", word: "offline" };
  if (connection.state !== "live") return { mood: "wait", word: seen.view ? "reconnecting" : "connecting" };
  if (freshness?.state === "down") return { mood: "bad", word: "source down" };
  if (freshness?.state === "stale") return { mood: "bad", word: "stale" };
  return { mood: "good", word: "online" };
}

/** HTTP status and close code of a missing or invalid key. */
const NO_KEY: readonly (number | undefined)[] = [401, 4003];

/** Whether the server refused the visitor because of a missing or invalid key. */
export function lacksKey({ connection, refused }: Seen): boolean {
  return refused !== undefined && NO_KEY.includes(connection.code);
}

/**
 * Whether the page shows old data: it has had no connection for a while, or it is offline or
 * closed, or the source is stale or down. False before the first data, and if the server refused
 * the page.
 */
export function isOld(seen: Seen): boolean {
  if (!seen.view || seen.refused !== undefined) return false;
  return seen.awayMs > 0 || judge(seen).mood === "bad";
}

/**
 * Returns the page's state. If only the group's stream is interrupted, its connection, time away
 * and freshness replace the page's.
 */
export function withGroup(
  seen: Seen | undefined,
  group: Pick<Seen, "lists" | "connection" | "awayMs" | "freshness"> | undefined,
): Seen | undefined {
  if (seen?.connection.state !== "live" || !group) return seen;
  const { lists, connection, awayMs, freshness = seen.freshness } = group;
  const isInterrupted = connection.state !== "live" && connection.state !== "closed";
  // The first connection takes a moment, which is no interruption.
  return isInterrupted && (lists || awayMs > 0) ? { ...seen, connection, awayMs, freshness } : seen;
}

/** Formats the data's age. While the source is in trouble, shows the time of its data instead. */
export function describeAge({ state, ageMs, observedAt }: DataFreshness): string {
  if (state === "live") return `data ${formatSpan(ageMs)} old`;
  return observedAt ? `as of ${formatTime(observedAt)} ${zoneName()}` : "no data yet";
}

/** Returns which share of the past the server has read; `undefined` if it needs no more of it. */
export function filledShare(freshness: Pick<DataFreshness, "parts"> | undefined): number | undefined {
  const parts = freshness?.parts?.flatMap(({ filling }) => filling ?? []) ?? [];
  if (parts.length === 0) return undefined;
  const sum = (of: "read_ms" | "of_ms") => parts.reduce((total, part) => total + part[of], 0);
  return sum("of_ms") === 0 ? undefined : sum("read_ms") / sum("of_ms");
}

/** Describes missed events: why, and how many at most. */
export function describeGap({ reason, lost }: Pick<Reset, "reason" | "lost">): string {
  if (lost === null) return `${reason}: an unknown number of events`;
  return `${reason}: up to ${lost} ${lost === 1 ? "event" : "events"}`;
}
