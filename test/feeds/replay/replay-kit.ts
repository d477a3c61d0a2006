import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { test as base } from "vitest";
import type { Clock } from "../../../src/base/lib/time/clock.ts";
import type { MarketEvent } from "../../../src/base/market/index.ts";
import type { SkipReason } from "../../../src/feeds/replay/read/skips.ts";
import { ReplayFeed, type ReplayOptions } from "../../../src/feeds/replay/replay-feed.ts";

/** A minute in the recording: 12 November 2017, 00:00 UTC. */
export const T0 = Date.UTC(2017, 10, 12);
export const MINUTE = 60_000;
export const HEADER = "time_ms,pair,open,high,low,close,volume";

/** A clock whose sleeps end at once and advance its time. */
export class LeapingClock implements Clock {
  mono = 0;
  wall = Date.UTC(2026, 0, 1);
  readonly slept: number[] = [];
  onSleep: (() => void) | undefined;

  now = () => this.wall;
  monotonic = () => this.mono;
  every = () => () => undefined;

  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    this.onSleep?.();
    signal.throwIfAborted();
    this.slept.push(ms);
    this.mono += ms;
  }
}

/** Provides `write`, which writes recordings into a temporary directory. */
export const test = base.extend<{
  write: (content: string | Uint8Array | readonly string[], name?: string) => string;
}>({
  // biome-ignore lint/correctness/noEmptyPattern: the runner demands a pattern
  write: async ({}, use) => {
    const dir = mkdtempSync(join(tmpdir(), "flarewire-replay-"));
    let files = 0;
    await use((content, name = `recording-${files++}`) => {
      const path = join(dir, name);
      const bytes = Array.isArray(content) ? `${content.join("\n")}\n` : content;
      writeFileSync(path, typeof bytes === "string" || bytes instanceof Uint8Array ? bytes : "");
      return path;
    });
    rmSync(dir, { recursive: true });
  },
});

/** Returns the line of a candle, `minute` minutes after T0. */
export function line(minute: number, pair = "BTC_AAA", close = "1.5"): string {
  return `${T0 + minute * MINUTE},${pair},1,2,0.5,${close},10`;
}

interface Replayed {
  readonly events: MarketEvent[];
  readonly skipped: [SkipReason, number, string][];
  readonly totals: Partial<Record<SkipReason, number>>;
  /** The error that ended the feed, if any. */
  readonly error: unknown;
}

/** Replays to the end, by default at full speed; at most `most` events. */
export async function replay(
  path: string,
  options: Partial<ReplayOptions> = {},
  most = Number.POSITIVE_INFINITY,
): Promise<Replayed> {
  const events: MarketEvent[] = [];
  const skipped: Replayed["skipped"] = [];
  const feed = new ReplayFeed({
    path,
    speed: Number.POSITIVE_INFINITY,
    clock: new LeapingClock(),
    onSkipped: (reason, at, detail) => skipped.push([reason, at, detail]),
    ...options,
  });
  let error: unknown;
  try {
    for await (const event of feed.events(new AbortController().signal)) {
      events.push(event);
      if (events.length >= most) break;
    }
  } catch (caught) {
    error = caught;
  }
  return { events, skipped, totals: feed.skipped(), error };
}

/** Returns the candles' close times, as minutes after T0. */
export function closes(events: readonly MarketEvent[]): number[] {
  return events.flatMap((event) => (event.kind === "candle" ? [(event.at - T0) / MINUTE] : []));
}

export function only<K extends MarketEvent["kind"]>(kind: K, events: readonly MarketEvent[]) {
  return events.filter((event): event is Extract<MarketEvent, { kind: K }> => event.kind === kind);
}

export function gzip(lines: readonly string[]): Buffer {
  return gzipSync(`${lines.join("\n")}\n`);
}
