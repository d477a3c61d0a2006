import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { AGGREGATED } from "../../../src/feeds/aggregator/gecko-terminal.ts";
import { type Mischief, misbehave } from "../exchange/mischief.ts";

export type NetworkId = string;

/** A pool as the stand-in lists it; omitted fields have usual values. */
export interface StandInPool {
  readonly token: string;
  readonly symbol: string;
  readonly pool?: string;
  readonly price?: string;
  /** Percent by which the price rose in five minutes, half an hour and an hour. */
  readonly rose?: readonly [m5: string, m30: string, h1: string];
  readonly reserve?: string | null;
  readonly createdAt?: string;
  /** Buys, sells, buyers, sellers and dollars of five minutes, an hour and a day. */
  readonly m5?: Counts;
  readonly h1?: Counts;
  readonly h24?: Counts;
  readonly coin?: string | null;
}

type Counts = readonly [buys: number, sells: number, buyers: number, sellers: number, usd: string];

/**
 * Serves GeckoTerminal's API on loopback: its paths and its response shapes. Sends errors on
 * demand.
 */
export class StandInAggregator implements AsyncDisposable {
  readonly trending = new Map<NetworkId, readonly StandInPool[]>();
  readonly newest = new Map<NetworkId, readonly StandInPool[]>();
  readonly asked: string[] = [];
  /** If set, every response is 429 with this `Retry-After` in seconds. */
  refusesFor: number | undefined;
  mischief: Mischief | undefined;
  /** One in this many requests gets a 429. */
  refusesEach = Number.POSITIVE_INFINITY;
  readonly #server = createServer((request, response) => {
    const url = new URL(request.url ?? "", "http://stand-in");
    this.asked.push(`${url.pathname}${url.search}`);
    this.#answer(url.pathname, String(request.headers.accept), response);
  });

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/api/v2`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #answer(path: string, accept: string, response: ServerResponse): void {
    if (this.mischief !== undefined) {
      misbehave(this.mischief, response);
      return;
    }
    const isRefused = this.asked.length % this.refusesEach === 0;
    if (this.refusesFor !== undefined || isRefused) {
      response.writeHead(429, { "retry-after": String(this.refusesFor ?? 1) }).end("Throttled");
      return;
    }
    const found = /^\/api\/v2\/networks\/(\w+)\/(trending|new)_pools$/.exec(path);
    const network = AGGREGATED.find(({ id }) => id === found?.[1])?.id;
    const isVersioned = accept === "application/json;version=20230203";
    if (!network || !isVersioned) {
      response.writeHead(404).end("{}");
      return;
    }
    const pools = (found?.[2] === "new" ? this.newest : this.trending).get(network) ?? [];
    response.writeHead(200, { "content-type": "application/json; charset=utf-8" });
    response.end(JSON.stringify(listOf(network, pools)));
  }
}

/** Returns a response in the aggregator's form. */
export function listOf(network: NetworkId, pools: readonly StandInPool[]) {
  return {
    data: pools.map((pool) => poolOf(network, pool)),
    included: pools.map((pool) => tokenOf(network, pool)),
  };
}

function poolOf(network: NetworkId, pool: StandInPool) {
  const { token, rose = ["0.1", "0.5", "1"], reserve = "80000.5", createdAt = "2025-01-02T03:04:05Z" } = pool;
  const address = pool.pool ?? `0x${"f".repeat(8)}${token.slice(10)}`;
  const quiet = [1, 1, 1, 1, "20"] as const;
  const spans = {
    m5: pool.m5 ?? quiet,
    h1: pool.h1 ?? [12, 12, 9, 9, "240"],
    h24: pool.h24 ?? [288, 288, 99, 99, "5760"],
  };
  const counts = ([buys, sells, buyers, sellers]: Counts) => ({ buys, sells, buyers, sellers });
  return {
    id: `${network}_${address}`,
    type: "pool",
    attributes: {
      base_token_price_usd: pool.price ?? "1.25",
      address,
      name: `${pool.symbol} / WBNB`,
      pool_created_at: createdAt,
      price_change_percentage: { m5: rose[0], m15: "0", m30: rose[1], h1: rose[2], h6: "0", h24: "0" },
      transactions: { m5: counts(spans.m5), h1: counts(spans.h1), h24: counts(spans.h24) },
      volume_usd: { m5: spans.m5[4], h1: spans.h1[4], h24: spans.h24[4] },
      reserve_in_usd: reserve,
    },
    relationships: { base_token: { data: { id: `${network}_${token}`, type: "token" } } },
  };
}

function tokenOf(network: NetworkId, { token, symbol, coin = null }: StandInPool) {
  return {
    id: `${network}_${token}`,
    type: "token",
    attributes: {
      address: token,
      name: `${symbol} coin`,
      symbol,
      decimals: 18,
      image_url: "missing.png",
      coingecko_coin_id: coin,
    },
  };
}
