import type { z } from "zod";
import { firstIssue } from "../../../base/lib/text/first-issue.ts";
import { messageOf } from "../../../base/lib/text/message-of.ts";
import { MINUTE_MS } from "../../../base/lib/time/time.ts";
import { LATEST_AT_MS, MarketEvent, type TokenEvent } from "../../../base/market/index.ts";
import { RecordingHeader } from "../../recording/header.ts";
import { profileFields, REINTRODUCE_AFTER_MS } from "../pair-registry.ts";
import type { Timeline } from "../timeline.ts";
import type { LineParser } from "./line-parser.ts";
import type { TokenProfiles } from "./profiles-file.ts";
import { excerpt, type Skipped } from "./skips.ts";

/** Parses a line that claims to be a recording's header; `undefined` for any other line. */
export function readHeader(line: string): RecordingHeader | { readonly problem: string } | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null || !("kind" in value) || value.kind !== "recording")
    return undefined;
  const parsed = RecordingHeader.safeParse(value);
  return parsed.success
    ? parsed.data
    : { problem: `invalid recording header: ${issueOf(parsed.error, value)}` };
}

/** Parses market events as NDJSON: one `MarketEvent` per line. */
export class EventNdjsonParser implements LineParser {
  readonly #timeline: Timeline;
  readonly #profiles: TokenProfiles;
  /** Latest event time of each token in the profiles file, by group and token. */
  readonly #seenAt = new Map<string, number>();
  readonly #used = new Set<string>();

  constructor(timeline: Timeline, profiles: TokenProfiles) {
    this.#timeline = timeline;
    this.#profiles = profiles;
  }

  firstLine(line: string): ReturnType<LineParser["firstLine"]> {
    if (!line.trimStart().startsWith("{")) {
      return {
        problem: `the first line is ${excerpt(line)}, expected a JSON object: one market event per line`,
      };
    }
    const header = readHeader(line);
    if (header === undefined) return "data";
    return "problem" in header ? header : "header";
  }

  parse(line: string, shiftMs: number, out: MarketEvent[]): Skipped | undefined {
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch (error) {
      return { reason: "bad-json", detail: messageOf(error).slice(0, 200) };
    }
    const parsed = MarketEvent.safeParse(value);
    if (!parsed.success) return { reason: "bad-event", detail: issueOf(parsed.error, value) };
    const event = shift(parsed.data, shiftMs);
    if (event === undefined)
      return { reason: "bad-event", detail: `at ${parsed.data.at} is after the year 9999` };
    if (event.kind === "candle" && event.at < event.openAt + MINUTE_MS) {
      return {
        reason: "bad-event",
        detail: `at ${event.at} of a candle must be at least openAt + ${MINUTE_MS}, openAt is ${event.openAt}`,
      };
    }
    const untimely = this.#timeline.judge(event.at);
    if (untimely) return untimely;
    // A token is introduced by its first other event, so that the profiles file takes precedence
    // over a recorded profile before it.
    if (event.kind !== "profile" && "token" in event) this.#introduce(event, out);
    out.push(event);
    return undefined;
  }

  unusedProfiles(): readonly string[] {
    return [...this.#profiles.keys()].filter((name) => !this.#used.has(name));
  }

  advance(ms: number): void {
    for (const [key, seenAt] of this.#seenAt) this.#seenAt.set(key, seenAt + ms);
  }

  #introduce({ group, token, at }: TokenEvent, out: MarketEvent[]): void {
    const profile = this.#profiles.get(token);
    if (!profile || (profile.groups && !profile.groups.includes(group))) return;
    this.#used.add(token);
    const key = `${group}:${token}`;
    const seenAt = this.#seenAt.get(key);
    if (seenAt === undefined || at - seenAt > REINTRODUCE_AFTER_MS)
      out.push({ ...profileFields(group, token, profile), at });
    this.#seenAt.set(key, Math.max(at, seenAt ?? at));
  }
}

function shift(event: MarketEvent, shiftMs: number): MarketEvent | undefined {
  if (shiftMs === 0) return event;
  const at = event.at + shiftMs;
  if (at > LATEST_AT_MS) return undefined;
  const shifted = (then: number | undefined) => (then === undefined ? undefined : then + shiftMs);
  const later = (until: number | null) => until && Math.min(until + shiftMs, LATEST_AT_MS);
  if (event.kind === "candle") return { ...event, at, openAt: event.openAt + shiftMs };
  if (event.kind === "window") return { ...event, at, createdAt: shifted(event.createdAt) };
  if (event.kind === "locks")
    return { ...event, at, held: event.held.map(({ share, until }) => ({ share, until: later(until) })) };
  if (event.kind === "observed") return { ...event, at, since: event.since + shiftMs };
  if (event.kind === "trade" && event.tradedAt !== undefined)
    return { ...event, at, tradedAt: event.tradedAt + shiftMs };
  return event.kind === "listing" ? { ...event, at, listedAt: shifted(event.listedAt) } : { ...event, at };
}

function issueOf(error: z.ZodError, value: unknown): string {
  const { field, found, message } = firstIssue(error, value);
  return `${field || "the line"} ${excerpt(found)}: ${message}`;
}
