import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { systemClock } from "../../../src/base/lib/time/clock.ts";
import { HOUR_MS } from "../../../src/base/lib/time/time.ts";
import { ReplayFeed } from "../../../src/feeds/replay/replay-feed.ts";
import { createSimulatedFeed } from "../../../src/feeds/simulated/simulated-feed.ts";
import type { Feed } from "../../../src/gateway/source/feed.ts";
import { IS_SOAK } from "../../support/law-runs.ts";
import { fingerprintOf } from "./fingerprint.ts";

/*
 * Compares hashes of all bodies, entity tags and events of clients that name no group. A change of
 * the detector or of a body changes them. In that case regenerate the files and review the diff:
 * npx vitest run --root test scenarios/without-group -u, and the same with LAW_FACTOR=2.
 */

const DATA = new URL("../../../examples/data/", import.meta.url);
const speed = Number.POSITIVE_INFINITY;
const textOf = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;

/** Returns the feed up to this hour of its first day. */
function upTo(hour: number, feed: Feed): Feed {
  async function* events(signal: AbortSignal) {
    let endMs: number | undefined;
    for await (const event of feed.events(signal)) {
      endMs ??= event.at + hour * HOUR_MS;
      if (event.at > endMs) return;
      yield event;
    }
  }
  return { name: feed.name, origin: feed.origin, facts: feed.facts, events };
}

const SIZE = IS_SOAK
  ? { warmupMs: HOUR_MS, durationMs: HOUR_MS, tokens: 160 }
  : { warmupMs: HOUR_MS / 2, durationMs: HOUR_MS / 2, tokens: 60 };

test("on a simulated market, clients that name no group receive the recorded bodies, entity tags and events", async () => {
  const feed = createSimulatedFeed({
    ...{ seed: 11, startAtMs: Date.UTC(2026, 0, 2), ...SIZE, speed, clock: systemClock },
  });
  const name = IS_SOAK ? "simulated.json" : "simulated-part.json";
  await expect(textOf(await fingerprintOf(feed))).toMatchFileSnapshot(name);
});

test.runIf(IS_SOAK)(
  "on ten hours of the recorded day, clients that name no group receive the recorded bodies, entity tags and events",
  async () => {
    const feed = new ReplayFeed({
      path: fileURLToPath(new URL("2017-11-12.csv.gz", DATA)),
      profilesPath: fileURLToPath(new URL("2017-11-12.profiles.json", DATA)),
      ...{ speed, clock: systemClock },
    });
    await expect(textOf(await fingerprintOf(upTo(10, feed)))).toMatchFileSnapshot("recorded.json");
  },
);
