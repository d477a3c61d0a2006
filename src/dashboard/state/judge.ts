import type { DataFreshness } from "../../client/index.ts";
import { formatSpan, formatTime } from "../text/format.ts";
import type { Seen } from "./seen.ts";

/** How it stands: in a word, and how far it can be trusted. */
interface Judgement {
  readonly mood: "good" | "wait" | "bad";
  readonly word: string;
}

/** Judges connection and data together. */
export function judge(seen: Seen | undefined): Judgement {
  if (!seen) return { mood: "wait", word: "connecting" };
  const { connection, freshness } = seen;
  if (connection.state === "closed") return { mood: "bad", word: "refused" };
  if (connection.state === "paused") return { mood: "wait", word: "paused" };
  if (connection.state !== "live") return { mood: "wait", word: seen.view ? "reconnecting" : "connecting" };
  if (freshness?.state === "down") return { mood: "bad", word: "source down" };
  if (freshness?.state === "stale") return { mood: "bad", word: "stale" };
  return { mood: "good", word: "live" };
}

/** Whether what is shown is old: without a connection for a while, or with a source that says nothing. Of a visitor who is refused nothing is shown. */
export function isOld(seen: Seen): boolean {
  if (!seen.view || seen.refused !== undefined) return false;
  return seen.awayMs > 0 || judge(seen).mood === "bad";
}

/** Says how old the data is; of a source in trouble as of when it is: its last answer may be new, and still not to be trusted. */
export function describeAge({ state, ageMs, observedAt }: DataFreshness): string {
  if (state === "live") return `data ${formatSpan(ageMs)} old`;
  return observedAt ? `as of ${formatTime(observedAt)} UTC` : "no data yet";
}
