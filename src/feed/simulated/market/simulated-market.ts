import { SECOND_MS } from "../../../lib/time/time.ts";
import type { MarketEvent, MarketGroup } from "../../../market/index.ts";
import { type Actor, ActorQueue } from "./actors/actor.ts";
import { establishedCompany } from "./actors/company.ts";
import { Wallets } from "./actors/wallets.ts";
import type { LabelSink } from "./episodes/label.ts";
import { Climate } from "./episodes/market-factor.ts";
import { type Birthplace, bornEstablished, bornNative } from "./launch-token.ts";
import { Listings } from "./listings.ts";
import { Outages } from "./outages.ts";
import { firstProfile, type Subject } from "./profiles.ts";
import { Random } from "./random.ts";
import { Exchange, exchangeNews } from "./venues/exchange.ts";

/** How the established tokens are spread over the groups. */
const SHARES: readonly (readonly [MarketGroup, number])[] = [
  ["bsc", 0.5],
  ["matic", 0.18],
  ["avalanche", 0.18],
  ["exchange", 0.14],
];
const NATIVE_USD: Readonly<Record<Exclude<MarketGroup, "exchange">, number>> = {
  bsc: 300,
  matic: 0.8,
  avalanche: 30,
};

/** What a simulated market is made from. */
interface SimulatedMarketOptions {
  /** What the market is made from; equal seeds give equal markets. The number 1 and the text "1" are the same seed. */
  readonly seed: number | string;
  /** Event time at which it begins, in whole milliseconds. It is a part of what the market is made from. */
  readonly beginAtMs: number;
  /** Established tokens over all groups, at least 4; newly listed ones come on top. */
  readonly tokens: number;
  /** Told of each thing that the market does on purpose. */
  readonly onLabel: LabelSink;
}

/** A market that goes on for as long as it is asked to. */
export interface SimulatedMarket {
  /** Event time of what comes next. */
  readonly nextAtMs: number;
  /** Appends to `out` everything up to and including the moment `atMs`, ordered by `at`; a `clock` closes each whole second. */
  advanceTo(atMs: number, out: MarketEvent[]): void;
}

/**
 * A market in event time: no clock, no chance but the seed's. It is a discrete-event simulation: each token, the exchange, the listings
 * and the market's climate are actors, and whoever's moment is next acts. Each has its own stream of chance, so that what one does leaves
 * the others' draws alone. Memory depends on the tokens that live, not on the time simulated.
 */
export function createSimulatedMarket(options: SimulatedMarketOptions): SimulatedMarket {
  const seed = `${options.seed}`;
  const { beginAtMs, onLabel } = options;
  const queue = new ActorQueue();
  const spawned: Actor[] = [];
  let rank = 0;
  const nextRank = () => {
    rank += 1;
    return rank;
  };
  const climate = new Climate(seed, nextRank(), beginAtMs, onLabel);
  const opening: MarketEvent[] = [];
  queue.add(climate);
  queue.add(new Notices(nextRank(), beginAtMs, opening));
  for (const [group, share] of SHARES) {
    const count = Math.max(1, Math.round(options.tokens * share));
    if (group === "exchange") {
      const venues = ["venue 1", "venue 2", "venue 3"].map(
        (shape) => new Outages(seed, { group, shape }, nextRank(), beginAtMs, onLabel),
      );
      for (const venue of venues) queue.add(venue);
      const exchange = new Exchange(seed, count, climate, onLabel, nextRank(), beginAtMs, venues);
      opening.push(...exchange.subjects.map((subject) => firstProfile(subject, beginAtMs)));
      opening.push(firstProfile(simulatedDollar(group, "SIMUSD", beginAtMs), beginAtMs, true));
      queue.add(exchange);
      queue.add(new Notices(nextRank(), beginAtMs, exchangeNews(seed, exchange.subjects, beginAtMs)));
    } else {
      const outages = new Outages(seed, { group, shape: "chain" }, nextRank(), beginAtMs, onLabel);
      queue.add(outages);
      const wallets = new Wallets(seed, group);
      const chain = { climate, wallets, nativeUsd: NATIVE_USD[group], outages, onLabel };
      const place: Birthplace = { seed, group, chain };
      settle(place, count, beginAtMs, nextRank, queue, opening);
      if (group === "bsc")
        queue.add(new Listings(place, nextRank(), beginAtMs, (actor) => spawned.push(actor), nextRank));
    }
  }
  queue.add(new Ticker(beginAtMs));
  return {
    get nextAtMs() {
      return queue.first?.nextAtMs ?? Number.POSITIVE_INFINITY;
    },
    advanceTo(atMs, out) {
      for (let actor = queue.first; actor && actor.nextAtMs <= atMs; actor = queue.first) {
        actor.act(out);
        queue.firstHasActed();
        while (spawned.length > 0) {
          const born = spawned.pop();
          if (born) queue.add(born);
        }
      }
    },
  };
}

/** Peoples a chain, and writes down what is known of it at the opening. */
function settle(
  place: Birthplace,
  count: number,
  beginAtMs: number,
  nextRank: () => number,
  queue: ActorQueue,
  opening: MarketEvent[],
): void {
  const native = bornNative(place, nextRank(), beginAtMs);
  const dollar = new Random(`${place.seed}/${place.group}/dollar`).address();
  opening.push(firstProfile(native.subject, beginAtMs, true));
  opening.push(firstProfile(simulatedDollar(place.group, dollar, beginAtMs), beginAtMs, true));
  native.introduce(beginAtMs, opening);
  queue.add(native);
  for (let serial = 0; serial < count; serial += 1) {
    const token = bornEstablished(place, serial, nextRank(), beginAtMs);
    opening.push(firstProfile(token.subject, beginAtMs));
    token.introduce(beginAtMs, opening);
    queue.add(token);
    const random = new Random(`${place.seed}/${place.group}/${serial}/company`);
    const { makers, dust, sidePool } = establishedCompany(token, place.chain, nextRank, beginAtMs, random);
    sidePool?.introduce(beginAtMs, opening);
    for (const companion of [makers, dust, sidePool]) if (companion) queue.add(companion);
  }
}

function simulatedDollar(group: MarketGroup, token: string, beginAtMs: number): Subject {
  return { group, token, naming: { name: "Simulated Dollar", symbol: "SIMUSD" }, createdAtMs: beginAtMs };
}

/** Events that are known beforehand, each told at its moment. */
class Notices implements Actor {
  readonly rank: number;
  readonly #events: readonly MarketEvent[];
  #told = 0;
  #nextAtMs: number;

  constructor(rank: number, beginAtMs: number, events: readonly MarketEvent[]) {
    this.rank = rank;
    this.#events = events;
    this.#nextAtMs = beginAtMs;
  }

  get nextAtMs(): number {
    return this.#nextAtMs;
  }

  act(out: MarketEvent[]): void {
    let event = this.#events[this.#told];
    for (; event && event.at <= this.#nextAtMs; event = this.#events[this.#told]) {
      out.push(event);
      this.#told += 1;
    }
    this.#nextAtMs = event?.at ?? Number.POSITIVE_INFINITY;
  }
}

/** Says that a second has passed, after everything else of that moment. */
class Ticker implements Actor {
  readonly rank = Number.MAX_SAFE_INTEGER;
  #nextAtMs: number;

  constructor(beginAtMs: number) {
    this.#nextAtMs = Math.ceil(beginAtMs / SECOND_MS) * SECOND_MS;
  }

  get nextAtMs(): number {
    return this.#nextAtMs;
  }

  act(out: MarketEvent[]): void {
    out.push({ kind: "clock", at: this.#nextAtMs });
    this.#nextAtMs += SECOND_MS;
  }
}
