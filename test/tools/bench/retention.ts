import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createConfig } from "../../../src/app/config/config.ts";
import { openPersistence } from "../../../src/app/data/file-persistence.ts";
import { createLogger } from "../../../src/app/server/create-logger.ts";
import { systemClock } from "../../../src/base/lib/time/clock.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../src/base/lib/time/time.ts";
import { LASTING_EVENTS, listsOf, type Snapshot } from "../../../src/base/protocol/index.ts";
import { TrendEngine } from "../../../src/engine/index.ts";
import { createSimulatedFeed } from "../../../src/feeds/simulated/simulated-feed.ts";
import { Head } from "../../../src/gateway/hub/index.ts";
import { bytesOf } from "../../../src/gateway/log/retained-events.ts";
import { toEvents } from "../../../src/gateway/source/index.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";
import type { Row } from "./report.ts";

const START_MS = Date.UTC(2026, 0, 2);
/** The market's first flares need a while. */
const WARM_MS = 2 * HOUR_MS;
const MB = 1e6;
/** Established tokens of a market: the default of the simulated one, and a busy one. */
const MARKETS = { simulated: undefined, "five times as busy": 2_400 } as const;

/** Measures how much the log stores in memory and on disk, by default, on two markets. */
export async function benchRetention(hours: number): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [market, tokens] of Object.entries(MARKETS))
    rows.push(...(await measure(market, tokens, hours)));
  return rows;
}

async function measure(market: string, tokens: number | undefined, hours: number): Promise<Row[]> {
  const data = mkdtempSync(join(tmpdir(), "flarewire-retention-"));
  const clock = new ManualClock(START_MS);
  const config = createConfig({ data });
  const identity = { name: "bench", fingerprint: "bench", needsEngine: false };
  const persistence = openPersistence({ config, clock, logger: createLogger("silent"), identity });
  try {
    const log = persistence.createLog();
    const added = { all: 0, allBytes: 0, lastingBytes: 0 };
    log.onAppend((records) => {
      for (const record of records) {
        added.all += 1;
        added.allBytes += bytesOf(record);
        if (LASTING_EVENTS.has(record.name)) added.lastingBytes += bytesOf(record);
      }
    });
    let head: Head | undefined;
    for await (const [before, after, atMs] of changes(tokens, hours)) {
      clock.advance(START_MS + atMs - clock.now());
      head ??= new Head({ log, initial: { snapshot: before, observedAtMs: START_MS } });
      const events = toEvents(before, after, START_MS + atMs);
      await head.publish({ events, snapshot: after, observedAtMs: START_MS + atMs });
      // The file drops old events with a state.
      if (atMs % MINUTE_MS === 0) await persistence.onPublished({ head, history: { lists: listsOf(after) } });
    }
    const perHour = (count: number) => count / hours;
    const row = (what: string, value: number, unit: string, aim = "by default"): Row => ({
      ...{ what: `${market}: ${what}`, value, unit, aim },
    });
    const hour = perHour(added.allBytes) * (config.logAgeMs / HOUR_MS);
    const lasting = perHour(added.lastingBytes) * (config.logFlareAgeMs / HOUR_MS);
    return [
      row("events", perHour(added.all), "an hour"),
      row("all events, with their overhead in memory", (24 * perHour(added.allBytes)) / MB, "MB a day"),
      row("lasting events", (24 * perHour(added.lastingBytes)) / MB, "MB a day"),
      row("both for as long as they are kept", (hour + lasting) / MB, "MB", `≤ ${config.logBytes / MB}`),
      row("stored now", log.bytes / MB, "MB", `≤ ${config.logBytes / MB}`),
      row("its file", fileBytes(data, "sqlite") / MB, "MB"),
      row("its write-ahead file", fileBytes(data, "wal") / MB, "MB"),
    ];
  } finally {
    await persistence.close();
    rmSync(data, { recursive: true, force: true });
  }
}

/** Yields each change of the market, with the time since its start. */
async function* changes(
  tokens: number | undefined,
  hours: number,
): AsyncGenerator<readonly [before: Snapshot, after: Snapshot, atMs: number]> {
  const feed = createSimulatedFeed({
    ...{ seed: 1, startAtMs: START_MS - WARM_MS, durationMs: WARM_MS + hours * HOUR_MS },
    ...{ clock: systemClock, speed: Number.POSITIVE_INFINITY, ...(tokens && { tokens }) },
  });
  const engine = new TrendEngine({ facts: feed.facts });
  let before: Snapshot | undefined;
  for await (const event of feed.events(new AbortController().signal)) {
    engine.accept(event);
    if (event.kind !== "clock" || event.at % SECOND_MS !== 0 || event.at < START_MS) continue;
    const after = engine.snapshot();
    if (before) yield [before, after, event.at - START_MS];
    before = after;
  }
}

function fileBytes(directory: string, ending: string): number {
  const names = readdirSync(directory).filter((name) => name.endsWith(ending));
  return names.reduce((sum, name) => sum + statSync(join(directory, name)).size, 0);
}
