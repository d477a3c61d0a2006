import type { Clock } from "../../base/lib/time/clock.ts";
import type { MarketEvent } from "../../base/market/index.ts";
import type { EventBody } from "../../base/protocol/index.ts";
import type { TrendEngine } from "../../engine/index.ts";
import { type PolledEngine, withAccept } from "../engine-source.ts";

type Counts = Readonly<Record<string, number | undefined>>;
type Kind = MarketEvent["kind"];

/** The kinds that describe the market itself, without profiles and clock events. */
const MARKET_KINDS = [
  "candle",
  "trade",
  "window",
  "listing",
  "liquidity",
  "locks",
] as const satisfies readonly Kind[];
const NAMES: Readonly<Record<(typeof MARKET_KINDS)[number], readonly [one: string, many: string]>> = {
  candle: ["candle", "candles"],
  trade: ["trade", "trades"],
  window: ["window", "windows"],
  listing: ["listing", "listings"],
  liquidity: ["change of liquidity", "changes of liquidity"],
  locks: ["change of locks", "changes of locks"],
};

export class ReplayTally {
  readonly #engine: TrendEngine;
  readonly #taken = new Map<Kind, number>();
  #events = 0;
  #flares = 0;
  readonly #clock: Clock;
  readonly #startedAtMs: number;

  constructor(engine: TrendEngine, clock: Clock) {
    this.#engine = engine;
    this.#clock = clock;
    this.#startedAtMs = clock.monotonic();
  }

  /** The engine, wrapped to count the events it accepts. */
  get engine(): PolledEngine {
    const engine = this.#engine;
    return withAccept(engine, (event) => {
      const before = sum(engine.rejected);
      engine.accept(event);
      if (event.kind !== "clock" && sum(engine.rejected) === before)
        this.#taken.set(event.kind, this.#of(event.kind) + 1);
    });
  }

  /** Counts an event, and returns its number, from 1. */
  count(event: EventBody): number {
    this.#events += 1;
    if (event.name === "flare-started" && event.channel.endsWith(".pro")) this.#flares += 1;
    return this.#events;
  }

  /** Returns true if the feed skipped or the engine rejected all market events. */
  get tookNothing(): boolean {
    return MARKET_KINDS.every((kind) => this.#of(kind) === 0);
  }

  /** Returns one line: events accepted, results, and events skipped or rejected, by reason. */
  summary(skipped: Counts): string {
    const seconds = ((this.#clock.monotonic() - this.#startedAtMs) / 1_000).toFixed(1);
    const kinds = MARKET_KINDS.filter((kind) => this.#of(kind) > 0);
    const taken = kinds.reduce((total, kind) => total + this.#of(kind), 0);
    const results = `${counted(this.#events, ["event", "events"])}, ${counted(this.#flares, ["flare", "flares"])}`;
    const market = `${counted(taken, ["market event", "market events"])} accepted`;
    const named = kinds.map((kind) => counted(this.#of(kind), NAMES[kind])).join(", ");
    const parts = named === "" ? "" : ` (${named})`;
    const { dust, ...rejected } = this.#engine.rejected;
    const small = dust === 0 ? "" : `; too small to count: ${counted(dust, NAMES.trade)}`;
    return `${market}${parts}, ${results} in ${seconds} s${small}${leftOut("skipped", skipped)}${leftOut("rejected", rejected)}`;
  }

  #of(kind: Kind): number {
    return this.#taken.get(kind) ?? 0;
  }
}

function leftOut(what: string, counts: Counts): string {
  const parts = Object.entries(counts).flatMap(([reason, count = 0]) =>
    count === 0 ? [] : [`${count} ${reason}`],
  );
  return parts.length === 0 ? "" : `; ${what}: ${parts.join(", ")}`;
}

function counted(count: number, [one, many]: readonly [string, string]): string {
  return `${count} ${count === 1 ? one : many}`;
}

function sum(counts: Readonly<Record<string, number>>): number {
  let total = 0;
  for (const reason in counts) total += counts[reason] ?? 0;
  return total;
}
