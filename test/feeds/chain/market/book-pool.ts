import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import type { MarketEvent } from "../../../../src/base/market/index.ts";
import type { Network } from "../../../../src/feeds/chain/network.ts";
import { addressIn, type Contract, OWNER, wallet } from "../nodes/test-chain.ts";
import { E18, Exchange } from "./exchange.ts";
import { divide, significant } from "./ledger.ts";

/*
 * LFJ's Liquidity Book of 2.2 and 2.0, compiled from https://github.com/traderjoe-xyz/joe-v2 (MIT,
 * Copyright (c) 2022 Joemart Ltd) by solc 0.8.37, optimizer on, EVM version paris.
 */
type Version = "2.2" | "2.0";
const packed = readFileSync(new URL("../contracts/liquidity-book.json.gz", import.meta.url));
const CONTRACTS = JSON.parse(gunzipSync(packed).toString("utf8")) as Record<
  Version,
  Record<"factory" | "pair", Contract>
>;

/** The bin of this id has a price of one. */
export const MIDDLE = 2 ** 23;
const STEP = 25;
/** Bins on either side that are near the price. */
const NEAR = 64;
const WHOLE = 10n ** 18n;

/** A pair of the Liquidity Book that the test trades in, and the events that it expects. */
export class BookPool {
  readonly events: MarketEvent[] = [];
  readonly network: Network;
  readonly #exchange: Exchange;
  readonly #version: Version;
  readonly #token: string;
  readonly #pair: string;
  readonly #batch: string;
  readonly #isTokenX: boolean;

  private constructor(
    exchange: Exchange,
    version: Version,
    at: Readonly<Record<"factory" | "token" | "pair" | "batch", string>>,
    isTokenX: boolean,
  ) {
    this.#exchange = exchange;
    this.#version = version;
    this.#token = at.token;
    this.#pair = at.pair;
    this.#batch = at.batch;
    this.#isTokenX = isTokenX;
    const { network } = exchange;
    const book = { name: "LFJ", form: "liquidity-book", address: at.factory } as const;
    this.network = { ...network, factories: [...network.factories, book] };
  }

  /** Deploys the factory and creates a pair of a new token and the coin, at a price of one. */
  static async open(version: Version, isTokenX = true, protocolShare = 2_000): Promise<BookPool> {
    const exchange = await Exchange.open();
    const { chain, coin } = exchange;
    const { factory: factoryContract, pair: pairContract } = CONTRACTS[version];
    const isOld = version === "2.0";
    const factory = await chain.deploy(factoryContract, isOld ? [OWNER, 0n] : [OWNER, OWNER, 0n]);
    const implementation = await chain.deploy(pairContract, [factory]);
    const token = await exchange.token("Book", "BOOK");
    const [tokenX, tokenY] = isTokenX ? [token, coin] : [coin, token];
    const send = (name: string, args: readonly unknown[]) =>
      chain.send(OWNER, factory, factoryContract, name, args);
    await send("setLBPairImplementation", [implementation]);
    // Usually a fifth of the fees leaves the bins for the protocol.
    const fees = [5_000, 30, 600, 5_000, 40_000, protocolShare, 350_000];
    await send("setPreset", [STEP, ...fees, isOld ? 120 : true]);
    await send("addQuoteAsset", [tokenY]);
    await chain.mine();
    await send("createLBPair", [tokenX, tokenY, MIDDLE, STEP]);
    const batch = await chain.deploy("batch");
    for (const account of [OWNER, wallet(1), wallet(2)])
      for (const one of [token, coin]) {
        if (account !== OWNER) await exchange.give(one, account, 100_000n * E18);
        await chain.send(account, one, "token", "approve", [batch, 2n ** 256n - 1n]);
      }
    await chain.mine();
    const result = await chain.read(factory, factoryContract, "getLBPairInformation", [tokenX, tokenY, STEP]);
    const pair = addressIn(result.slice(0, 2 + 128));
    return new BookPool(exchange, version, { factory, token, pair, batch }, isTokenX);
  }

  get token(): string {
    return this.#token;
  }

  get chain(): Exchange["chain"] {
    return this.#exchange.chain;
  }

  /** Adds the same amount of the owner's to each bin: coins below the price, tokens above. */
  async add(fromBin: number, toBin: number, each: bigint, names?: { symbol: string; name: string }) {
    const { coin } = this.#exchange;
    // A token's price in coins falls with the id if the token comes second.
    const ids = range(fromBin, toBin).map((bin) => MIDDLE + (this.#isTokenX ? bin : -bin));
    const active = await this.#active();
    const isY = (id: number) => id < active;
    const [xs, ys] = [ids.filter((id) => !isY(id)), ids.filter(isY)];
    const [tokenX, tokenY] = this.#isTokenX ? [this.#token, coin] : [coin, this.#token];
    const shareX = xs.length === 0 ? 0n : WHOLE / BigInt(xs.length);
    const shareY = ys.length === 0 ? 0n : WHOLE / BigInt(ys.length);
    const pays = [
      [tokenX, each * BigInt(xs.length)],
      [tokenY, each * BigInt(ys.length)],
    ] as const;
    const shares = ids.map((id) => (isY(id) ? [0n, shareY] : [shareX, 0n]) as [bigint, bigint]);
    const configs = ids.map((id, index) => {
      const [x, y] = shares[index] ?? [0n, 0n];
      return `0x${((x << 88n) | (y << 24n) | BigInt(id)).toString(16).padStart(64, "0")}`;
    });
    const args =
      this.#version === "2.0"
        ? [ids, shares.map(([x]) => x), shares.map(([, y]) => y), OWNER]
        : [OWNER, configs, OWNER];
    await this.#act(OWNER, pays, "mint", args, "add", names);
  }

  /** Removes all of the owner's liquidity from these bins. */
  async remove(fromBin: number, toBin: number): Promise<void> {
    const ids = range(fromBin, toBin).map((bin) => MIDDLE + (this.#isTokenX ? bin : -bin));
    const { pair } = CONTRACTS[this.#version];
    const { chain } = this;
    const units = await Promise.all(
      ids.map(async (id) => BigInt(await chain.read(this.#pair, pair, "balanceOf", [OWNER, id]))),
    );
    const at = chain.nextAt * 1_000;
    if (this.#version === "2.0") {
      const moved = [OWNER, this.#pair, ids, units];
      await chain.send(OWNER, this.#pair, pair, "safeBatchTransferFrom", moved);
      await chain.send(OWNER, this.#pair, pair, "burn", [ids, units, OWNER]);
    } else await chain.send(OWNER, this.#pair, pair, "burn", [OWNER, OWNER, ids, units]);
    await chain.mine();
    await this.#report(at, "remove");
  }

  async swap(trader: string, side: "buy" | "sell", units: bigint): Promise<void> {
    const { coin } = this.#exchange;
    const held = async () => [await this.#held(this.#token, trader), await this.#held(coin, trader)] as const;
    const at = this.chain.nextAt * 1_000;
    const [tokensBefore, coinsBefore] = await held();
    const isForY = (side === "sell") === this.#isTokenX;
    await this.#act(trader, [[side === "buy" ? coin : this.#token, units]], "swap", [isForY, trader], "sync");
    const [tokensAfter, coinsAfter] = await held();
    const tokens = side === "buy" ? tokensAfter - tokensBefore : tokensBefore - tokensAfter;
    const coins = side === "buy" ? coinsBefore - coinsAfter : coinsAfter - coinsBefore;
    const price = significant(600n * coins, tokens, 18);
    const [amount, quoteUsd] = [divide(tokens, E18, 18), divide(600n * coins, E18, 18)];
    this.events.push({ kind: "trade", ...this.#common(at), side, price, amount, quoteUsd, trader });
  }

  /** Pays the pair and calls it, in one transaction. */
  async #act(
    from: string,
    pays: readonly (readonly [string, bigint])[],
    name: string,
    args: readonly unknown[],
    cause: "add" | "sync",
    names?: { symbol: string; name: string },
  ): Promise<void> {
    const at = this.chain.nextAt * 1_000;
    const { pair } = CONTRACTS[this.#version];
    await this.chain.run(from, this.#batch, [
      ...pays.flatMap(([token, units]) =>
        units === 0n ? [] : [[token, "token", "transferFrom", [from, this.#pair, units]] as const],
      ),
      [this.#pair, pair, name, args],
    ]);
    await this.chain.mine();
    await this.#report(at, cause, names);
  }

  async #report(at: number, cause: "add" | "remove" | "sync", names?: { symbol: string; name: string }) {
    const common = this.#common(at);
    const usd = await this.#usd();
    if (names) this.events.push({ kind: "profile", at, group: "bsc", token: this.#token, ...names });
    if (names) this.events.push({ kind: "listing", ...common, liquidity: usd });
    else this.events.push({ kind: "liquidity", ...common, usd, cause });
  }

  #common(at: number) {
    return { at, group: "bsc", pool: this.#pair, token: this.#token } as const;
  }

  async #held(token: string, account: string): Promise<bigint> {
    return BigInt(await this.chain.read(token, "token", "balanceOf", [account]));
  }

  async #active(): Promise<number> {
    const { pair } = CONTRACTS[this.#version];
    const isOld = this.#version === "2.0";
    const result = await this.chain.read(this.#pair, pair, isOld ? "getReservesAndId" : "getActiveId");
    return Number(BigInt(`0x${result.slice(-64)}`));
  }

  /** Returns the expected dollars, by the coins in the contract's bins near the price. */
  async #usd(): Promise<string> {
    const { pair } = CONTRACTS[this.#version];
    const active = await this.#active();
    const ids = range(0, NEAR).map((bin) => active + (this.#isTokenX ? -bin : bin));
    let coins = 0n;
    for (const id of ids) {
      const result = await this.chain.read(this.#pair, pair, "getBin", [id]);
      const words = result.slice(2).match(/.{64}/g) ?? [];
      coins += BigInt(`0x${words[this.#isTokenX ? 1 : 0]}`);
    }
    return divide(2n * coins * 600n, E18, 18);
  }
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}
