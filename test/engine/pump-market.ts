import type { MarketEvent } from "../../src/base/market/index.ts";
import type { Snapshot } from "../../src/base/model/index.ts";
import { TrendEngine } from "../../src/engine/index.ts";
import { crowdOf, playScripts, type Script } from "./trade-market.ts";
import { address, drive, MINUTE, START, withClocks } from "./trend-kit.ts";

/** A token that rises from minute `PUMP_AT` on, among eight quiet ones, and flares at `MOMENT`. */
export const TOKEN = address(1);
export const PUMP_AT = 60;
export const MOMENT = START + (PUMP_AT + 6) * MINUTE;

const PUMP: Script = {
  token: TOKEN,
  rate: (minute) => (minute >= PUMP_AT ? 25 : 2),
  buyShare: (minute) => (minute >= PUMP_AT ? 0.8 : 0.5),
};

/** Changes to the market with the pump. */
interface PumpPart {
  /** Events in addition to those of the pump and the crowd. */
  readonly extra?: readonly MarketEvent[];
  /** Changes an event of the pump or the crowd; `undefined` drops it. */
  readonly change?: (event: MarketEvent) => MarketEvent | undefined;
  readonly script?: Script;
  readonly crowd?: number;
  readonly minutes?: number;
  readonly onSnapshot?: (snapshot: Snapshot, atMs: number) => void;
}

/** Plays the pump with these changes, and reports the token's flare, canary and warnings. */
export function playPump(part: PumpPart = {}) {
  const { extra = [], change = (event) => event, script = PUMP, crowd = 8, minutes = PUMP_AT + 11 } = part;
  const scripted = playScripts([...crowdOf(crowd), script], minutes);
  const events = [...scripted.flatMap((event) => change(event) ?? []), ...extra];
  const engine = new TrendEngine();
  let canarySeconds = 0;
  const last = drive(
    engine,
    withClocks(events, START + minutes * MINUTE, START - 3_000),
    (snapshot, atMs) => {
      if (engine.trendOf("bsc", TOKEN)?.canarySinceMs != null) canarySeconds += 1;
      part.onSnapshot?.(snapshot, atMs);
    },
  );
  const { pro, finished_trending } = last.flares;
  return {
    engine,
    last,
    canarySeconds,
    running: pro.filter(({ token }) => token.address === TOKEN),
    causes: finished_trending.map(({ id }) => last.explanations[id]?.finish_cause),
    warnings: Object.values(last.explanations).flatMap(({ warnings }) => warnings),
  };
}
