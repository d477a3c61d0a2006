import { createConfig } from "../../src/app/config/config.ts";
import { startGateway } from "../../src/app/serve.ts";
import { EMPTY_SNAPSHOT, type Flare, type Snapshot } from "../../src/base/model/index.ts";
import { HeldProxy } from "../clients/sdk/held-proxy.ts";
import { SAMPLE_EXCHANGE_FLARE, SAMPLE_EXPLANATION, SAMPLE_FLARE } from "../support/world/samples.ts";
import { ToldSource } from "../support/world/told-source.ts";

/** A gateway whose market the test controls, behind a proxy whose connections it can cut. */
export interface LedGateway extends AsyncDisposable {
  /** The proxy's address. */
  readonly url: string;
  /** Starts a flare. */
  start(symbol: string, name?: string): void;
  /** Starts a flare of the exchange. */
  startOnExchange(pair: string): void;
  /** Finishes the exchange's flare. */
  finishOnExchange(): void;
  /** Lets the running flare surge, at twice the change of its price. */
  surge(symbol: string): void;
  /** Finishes the running flare. */
  finish(symbol: string): void;
  /** Cuts all connections silently, like a lost network. */
  cut(): void;
}

export async function startLedGateway(
  settings: Parameters<typeof createConfig>[0] = {},
): Promise<LedGateway> {
  const market = new LedMarket();
  const gateway = await startGateway(createConfig({ port: 0, drain: "0", logLevel: "silent", ...settings }), {
    source: market,
  });
  const proxy = await HeldProxy.open(Number(new URL(gateway.url).port));
  return {
    url: proxy.url,
    start: (symbol, name) => market.start(symbol, name),
    startOnExchange: (pair) => market.startOnExchange(pair),
    finishOnExchange: () => market.finishOnExchange(),
    surge: (symbol) => market.surge(symbol),
    finish: (symbol) => market.finish(symbol),
    cut: () => proxy.cut(),
    [Symbol.asyncDispose]: async () => {
      await proxy[Symbol.asyncDispose]();
      await gateway.stop();
    },
  };
}

/** A source that the test controls. */
export class LedMarket extends ToldSource {
  readonly info = {
    name: "led",
    origin: "simulated",
    facts: { trades: false, liquidity: false, listings: false, profiles: false },
  } as const;
  #snapshot: Snapshot = EMPTY_SNAPSHOT;
  #observedAtMs = Date.parse("2017-11-12T08:00:00.000Z");

  constructor() {
    super();
    this.#show(EMPTY_SNAPSHOT);
  }

  start(symbol: string, name = "Uni Token"): void {
    const at = this.#tick();
    const id = `3b241101-e2bb-5255-8caf-${String(this.#observedAtMs).slice(-12).padStart(12, "0")}`;
    const flare: Flare = {
      ...SAMPLE_FLARE,
      id,
      started_trending_at: at,
      token: { ...SAMPLE_FLARE.token, symbol, name },
    };
    const { flares, explanations } = this.#snapshot;
    this.#show({
      ...this.#snapshot,
      flares: { ...flares, pro: [flare, ...flares.pro] },
      explanations: { ...explanations, [id]: { ...SAMPLE_EXPLANATION, at } },
    });
  }

  surge(symbol: string): void {
    const at = this.#tick();
    const { flares, explanations } = this.#snapshot;
    const surging = flares.pro.find(({ token }) => token.symbol === symbol);
    const why = surging && explanations[surging.id];
    if (!why) throw new Error(`${symbol} is not flaring`);
    const surge = { number: (why.surge?.number ?? 0) + 1, at, price: surging.token.price, score: 6.5 };
    const recent_price_change = 2 * surging.recent_price_change;
    const risen = (flare: Flare) => (flare.id === surging.id ? { ...flare, recent_price_change } : flare);
    this.#show({
      ...this.#snapshot,
      flares: { ...flares, pro: flares.pro.map(risen), free: flares.free.map(risen) },
      explanations: { ...explanations, [surging.id]: { ...why, at, score: surge.score, surge } },
    });
  }

  finish(symbol: string): void {
    const at = this.#tick();
    const { flares, explanations } = this.#snapshot;
    const ended = flares.pro.find(({ token }) => token.symbol === symbol);
    if (!ended) throw new Error(`${symbol} is not flaring`);
    this.#show({
      ...this.#snapshot,
      flares: {
        ...flares,
        pro: flares.pro.filter((flare) => flare !== ended),
        finished_trending: [{ ...ended, finished_trending_at: at }, ...flares.finished_trending],
      },
      explanations: { ...explanations, [ended.id]: { ...SAMPLE_EXPLANATION, at, finish_cause: "faded" } },
    });
  }

  startOnExchange(pair: string): void {
    const started_trending_at = this.#tick();
    const flare = { ...SAMPLE_EXCHANGE_FLARE, pair, exchange: pair, started_trending_at };
    const { explanations } = this.#snapshot;
    this.#show({
      ...this.#snapshot,
      "flares.exchange": { free: [], pro: [flare], finished_trending: [] },
      explanations: { ...explanations, [flare.id]: { ...SAMPLE_EXPLANATION, at: started_trending_at } },
    });
  }

  finishOnExchange(): void {
    const finished_trending_at = this.#tick();
    const { pro } = this.#snapshot["flares.exchange"];
    const finished_trending = pro.map((flare) => ({ ...flare, finished_trending_at }));
    this.#show({ ...this.#snapshot, "flares.exchange": { free: [], pro: [], finished_trending } });
  }

  #tick(): string {
    this.#observedAtMs += 1_000;
    return new Date(this.#observedAtMs).toISOString();
  }

  #show(snapshot: Snapshot): void {
    this.#snapshot = snapshot;
    this.tell({ observedAtMs: this.#observedAtMs, snapshot });
  }
}
