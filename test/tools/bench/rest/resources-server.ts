/*
 * Runs the gateway with two days of history. In the last two hours, a token flares for five of
 * every ten minutes, with candles. Then the flares change each second.
 */

import { systemClock } from "../../../../src/base/lib/time/clock.ts";
import { isoTime } from "../../../../src/base/lib/time/iso-time.ts";
import { MINUTE_MS } from "../../../../src/base/lib/time/time.ts";
import type { Candle, Flare, Snapshot } from "../../../../src/base/model/index.ts";
import { SAMPLE_EXPLANATION, SAMPLE_FLARE } from "../../../support/world/samples.ts";
import { sayReady } from "../harness/control-port.ts";
import { serveSnapshots } from "./served-gateway.ts";
import { snapshotOf } from "./snapshot.ts";

/** More than the number of past minutes that the bench requests only once. */
const MINUTES = 2_880;
const FIRST_FLARE = (MINUTES - 120) / 10;
const startMs = Math.floor(systemClock.now() / MINUTE_MS) * MINUTE_MS - MINUTES * MINUTE_MS;
const timeAt = (minute: number) => isoTime(startMs + minute * MINUTE_MS);

const candleAt = (minute: number): Candle => ({
  open_at: timeAt(minute),
  ...{ open: "0.00171", high: "0.00184", low: "0.0017", close: "0.00183", volume: `${minute}321.5` },
  buys: 17,
  sells: 4,
});

function flareOf(number: number, minute: number): Flare {
  const end = number * 10 + 5;
  return {
    ...SAMPLE_FLARE,
    id: `4c241101-e2bb-5255-8caf-${String(number).padStart(12, "0")}`,
    started_trending_at: timeAt(number * 10),
    finished_trending_at: end <= minute ? timeAt(end) : null,
  };
}

/** Returns the state of a minute, and of a step within the last one. */
function stateOf(minute: number, step: number): Snapshot {
  const base = snapshotOf(20_000, step);
  const count = Math.max(0, Math.floor(minute / 10) + 1 - FIRST_FLARE);
  const own = Array.from({ length: count }, (_, at) => flareOf(FIRST_FLARE + at, minute));
  const running = own.filter((flare) => flare.finished_trending_at === null);
  const others = base.flares.pro.map((flare, at) => ({
    ...flare,
    token: { ...flare.token, address: `0x${at}` },
  }));
  const candles = Array.from({ length: 60 }, (_, at) => candleAt(minute - 60 + at));
  return {
    ...base,
    flares: {
      free: [],
      pro: [...running, ...others],
      finished_trending: own.filter((flare) => flare.finished_trending_at !== null).toReversed(),
    },
    explanations: Object.fromEntries(own.map(({ id }) => [id, SAMPLE_EXPLANATION])),
    outcomes: {},
    candles: { closed_at: timeAt(minute), bsc: { [SAMPLE_FLARE.token.address]: candles } },
  };
}

const loaded = Promise.withResolvers<void>();
let minute = 0;
let step = 0;
const port = await serveSnapshots(async (signal) => {
  if (minute < MINUTES) minute += 1;
  else {
    loaded.resolve();
    await systemClock.sleep(1_000, signal);
    step += 1;
  }
  return { observedAtMs: startMs + minute * MINUTE_MS + step * 1_000, snapshot: stateOf(minute, step) };
});
await loaded.promise;
sayReady(port, 0);
