import { SECOND_MS } from "../../../base/lib/time/time.ts";
import type { MarketEvent, MarketGroup } from "../../../base/market/index.ts";
import { type GroupName, isAdditional, OTHER_CHAINS } from "../../../base/model/index.ts";
import { type Actor, ActorQueue, TimedActor } from "./actors/actor.ts";
import { establishedCompanions } from "./actors/companions.ts";
import { Wallets } from "./actors/wallets.ts";
import type { LabelSink } from "./episodes/label.ts";
import { MarketFactor } from "./episodes/market-factor.ts";
import { type ChainSetup, createEstablished, createNative } from "./launch-token.ts";
import { Listings } from "./listings.ts";
import { Outages } from "./outages.ts";
import { firstProfile, type Subject } from "./profiles.ts";
import { Random } from "./random.ts";
import { Exchange, exchangeNews } from "./venues/exchange.ts";

/** About what the coin of a group's chain costs, in US dollars. Default: 1. */
const COIN_USD: Readonly<Partial<Record<GroupName, number>>> = { bsc: 300, matic: 0.8, avalanche: 30 };

/** The simulated chains other than `bsc`. */
const CHAINS = OTHER_CHAINS.filter((group) => !isAdditional(group));
/** Share of the established tokens by group, in the order of their creation. */
const SHARES: readonly (readonly [MarketGroup, number])[] = [
  ["bsc", 0.5],
  ...CHAINS.map((group) => [group, 0.36 / CHAINS.length] as const),
  ["exchange", 0.14],
];

interface SimulatedMarketOptions {
  /** Equal seeds give equal markets. The number 1 and the text "1" are the same seed. */
  readonly seed: number | string;
  /**
   * Event time of the start, in whole milliseconds. With the seed and `tokens`, it determines the
   * market.
   */
  readonly beginAtMs: number;
  /** Established tokens over all groups, at least 4. Newly listed ones are added. */
  readonly tokens: number;
  /**
   * Receives each label, for tests and evaluations, no later than the step that emits the first
   * event of its episode.
   */
  readonly onLabel?: LabelSink;
}

/** A market that can be advanced without limit. */
export interface SimulatedMarket {
  readonly nextAtMs: number;
  /** Appends everything up to and including `atMs` to `out`. A `clock` closes each whole second. */
  advanceTo(atMs: number, out: MarketEvent[]): void;
}

/**
 * Creates a market in event time: a discrete-event simulation that always runs the actor with the
 * earliest time. Each random stream serves one token, chain or venue and depends only on the seed,
 * so that the others' draws do not change it. Memory depends on the number of living tokens, not on
 * the simulated time.
 */
export function createSimulatedMarket(options: SimulatedMarketOptions): SimulatedMarket {
  const seed = `${options.seed}`;
  const { beginAtMs, onLabel = () => undefined } = options;
  const queue = new ActorQueue();
  const spawned: Actor[] = [];
  let rank = 0;
  const nextRank = () => {
    rank += 1;
    return rank;
  };
  const marketFactor = new MarketFactor(seed, nextRank(), beginAtMs, onLabel);
  const opening: MarketEvent[] = [];
  queue.add(marketFactor);
  queue.add(new ScheduledEvents(nextRank(), beginAtMs, opening));
  for (const [group, share] of SHARES) {
    const count = Math.max(1, Math.round(options.tokens * share));
    if (group === "exchange") {
      const venues = ["venue 1", "venue 2", "venue 3"].map(
        (shape) => new Outages(seed, { group, shape }, nextRank(), beginAtMs, onLabel),
      );
      for (const venue of venues) queue.add(venue);
      const exchange = new Exchange(seed, count, marketFactor, onLabel, nextRank(), beginAtMs, venues);
      opening.push(...exchange.subjects.map((subject) => firstProfile(subject, beginAtMs)));
      opening.push(firstProfile(simulatedDollar(group, "SIMUSD", beginAtMs), beginAtMs, true));
      queue.add(exchange);
      queue.add(new ScheduledEvents(nextRank(), beginAtMs, exchangeNews(seed, exchange.subjects, beginAtMs)));
    } else {
      const outages = new Outages(seed, { group, shape: "chain" }, nextRank(), beginAtMs, onLabel);
      queue.add(outages);
      const wallets = new Wallets(seed, group);
      const chain = { marketFactor, wallets, nativeUsd: COIN_USD[group] ?? 1, outages, onLabel };
      const setup: ChainSetup = { seed, group, chain };
      populate(setup, count, beginAtMs, nextRank, queue, opening);
      if (group === "bsc")
        queue.add(new Listings(setup, nextRank(), beginAtMs, (actor) => spawned.push(actor), nextRank));
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

/**
 * Adds a chain's tokens and the actors around them to `queue`, and their first events to `opening`.
 */
function populate(
  setup: ChainSetup,
  count: number,
  beginAtMs: number,
  nextRank: () => number,
  queue: ActorQueue,
  opening: MarketEvent[],
): void {
  const native = createNative(setup, nextRank(), beginAtMs);
  const dollar = new Random(`${setup.seed}/${setup.group}/dollar`).address();
  opening.push(firstProfile(native.subject, beginAtMs, true));
  opening.push(firstProfile(simulatedDollar(setup.group, dollar, beginAtMs), beginAtMs, true));
  native.introduce(beginAtMs, opening);
  queue.add(native);
  for (let serial = 0; serial < count; serial += 1) {
    const token = createEstablished(setup, serial, nextRank(), beginAtMs);
    opening.push(firstProfile(token.subject, beginAtMs));
    token.introduce(beginAtMs, opening);
    const random = new Random(`${setup.seed}/${setup.group}/${serial}/company`);
    const company = establishedCompanions(token, setup.chain, nextRank, beginAtMs, random);
    company.sidePool?.introduce(beginAtMs, opening);
    for (const actor of [token, ...Object.values(company)]) if (actor) queue.add(actor);
  }
}

function simulatedDollar(group: MarketGroup, token: string, beginAtMs: number): Subject {
  return { group, token, naming: { name: "Simulated Dollar", symbol: "SIMUSD" }, createdAtMs: beginAtMs };
}

/** Emits events that are known in advance, in the order given. */
class ScheduledEvents extends TimedActor {
  readonly #events: readonly MarketEvent[];
  #emitted = 0;

  constructor(rank: number, beginAtMs: number, events: readonly MarketEvent[]) {
    super(rank, beginAtMs);
    this.#events = events;
  }

  protected perform(now: number, out: MarketEvent[]): number {
    let event = this.#events[this.#emitted];
    for (; event && event.at <= now; event = this.#events[this.#emitted]) {
      out.push(event);
      this.#emitted += 1;
    }
    return event?.at ?? Number.POSITIVE_INFINITY;
  }
}

/** Emits a clock event each second, after everything else of that time. */
class Ticker extends TimedActor {
  constructor(beginAtMs: number) {
    super(Number.MAX_SAFE_INTEGER, Math.ceil(beginAtMs / SECOND_MS) * SECOND_MS);
  }

  protected perform(at: number, out: MarketEvent[]): number {
    out.push({ kind: "clock", at });
    return at + SECOND_MS;
  }
}
