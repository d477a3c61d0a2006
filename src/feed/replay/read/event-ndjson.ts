import { z } from "zod";
import { messageOf } from "../../../lib/text/message-of.ts";
import { MINUTE_MS } from "../../../lib/time/time.ts";
import { FeedFacts, MarketEvent, Origin } from "../../../market/index.ts";
import { profileFields, REINTRODUCE_AFTER_MS } from "../pair-book.ts";
import { LATEST_AT_MS, type Timeline } from "../timeline.ts";
import type { LineParser } from "./line-parser.ts";
import type { TokenProfiles } from "./profiles-file.ts";
import { type Skipped, shown } from "./skips.ts";

/** The version of the recording format that is written and read here. */
export const RECORDING_VERSION = 1;

/**
 * The first line of an event recording, which may be left out. It says what the feed that was recorded can know, so that a replay
 * is taken for what it is: a fact that no line mentions may be one that the feed could never have seen.
 */
export const RecordingHeader = z.object({
  kind: z.literal("recording"),
  version: z.literal(RECORDING_VERSION),
  /** Of the feed that was recorded. Simulated data stays simulated; everything else is `recorded` when it is replayed. */
  origin: Origin.optional(),
  facts: FeedFacts,
  /** Every `clock` that the feed told stands in the recording: a replay adds none. Absent: a replay adds one at each whole second. */
  clocks: z.literal("recorded").optional(),
});
export type RecordingHeader = z.infer<typeof RecordingHeader>;

/** Whether a line claims to be a recording's header; what it says, or what is wrong with it. */
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
    : { problem: `the recording's header is not understood: ${issueOf(parsed.error, value)}` };
}

/** Market events as NDJSON: one JSON object a line, each of the form that `MarketEvent` describes. */
export class EventNdjsonParser implements LineParser {
  readonly #timeline: Timeline;
  readonly #profiles: TokenProfiles;
  /** When each token with a profile was last seen, by group and token. */
  readonly #seenAt = new Map<string, number>();
  readonly #used = new Set<string>();

  constructor(timeline: Timeline, profiles: TokenProfiles) {
    this.#timeline = timeline;
    this.#profiles = profiles;
  }

  firstLine(line: string): ReturnType<LineParser["firstLine"]> {
    if (!line.trimStart().startsWith("{")) {
      return { problem: `the first line is ${shown(line)}, expected a JSON object: one market event a line` };
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
      return { reason: "bad-event", detail: `at ${parsed.data.at} lies past the year 9999` };
    if (event.kind === "candle" && event.at < event.openAt + MINUTE_MS) {
      return {
        reason: "bad-event",
        detail: `at ${event.at} of a candle must be at least openAt + ${MINUTE_MS}, openAt is ${event.openAt}`,
      };
    }
    const untimely = this.#timeline.judge(event.at);
    if (untimely) return untimely;
    // After a recorded profile of the same token, so that the file beside the recording has the last word.
    if (event.kind !== "profile" && event.kind !== "clock") this.#introduce(event, out);
    out.push(event);
    return undefined;
  }

  unusedProfiles(): readonly string[] {
    return [...this.#profiles.keys()].filter((name) => !this.#used.has(name));
  }

  advance(ms: number): void {
    for (const [key, seenAt] of this.#seenAt) this.#seenAt.set(key, seenAt + ms);
  }

  #introduce({ group, token, at }: Exclude<MarketEvent, { kind: "clock" }>, out: MarketEvent[]): void {
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
  return event.kind === "candle" ? { ...event, at, openAt: event.openAt + shiftMs } : { ...event, at };
}

function issueOf(error: z.ZodError, value: unknown): string {
  const issue = error.issues[0];
  if (!issue) return "not a market event";
  const found = issue.path.reduce<unknown>(
    (inner, key) => (typeof inner === "object" && inner !== null ? Reflect.get(inner, key) : undefined),
    value,
  );
  const field = issue.path.length === 0 ? "the line" : issue.path.map(String).join(".");
  return `${field} ${shown(found)}: ${issue.message}`;
}
