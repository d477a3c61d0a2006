import { describe, expect, test } from "vitest";
import { Header, Receipts } from "../../../src/feeds/chain/evm-block.ts";
import { countProved } from "../../../src/feeds/chain/rpc/receipts-root.ts";
import { SyntheticChain } from "./synthetic-chain.ts";

const DENSITY = { pools: 4, swaps: 2, pairs: 3, others: 1 };
const NOW = Date.UTC(2026, 10, 22);
const open = (name: "bsc" | "polygon" | "avalanche") => {
  const clock = { now: NOW };
  return { chain: new SyntheticChain(name, DENSITY, () => clock.now), clock };
};
const receiptsOf = (chain: SyntheticChain, number: number) =>
  Receipts.parse(JSON.parse(chain.receipts(number)));

describe("a synthetic chain", () => {
  test.for(["bsc", "polygon"] as const)(
    "has linked blocks whose receipts match their headers: %s",
    (name) => {
      const { chain } = open(name);
      for (let number = chain.head; number > chain.head - 40; number--) {
        const header = Header.parse(chain.header(number));
        const receipts = receiptsOf(chain, number);
        expect(countProved(receipts, header.receiptsRoot)).toBe(3);
        expect(receipts.map(({ transactionHash }) => transactionHash)).toEqual(header.transactions);
        expect(header.parentHash).toBe(Header.parse(chain.header(number - 1)).hash);
      }
      expect([chain.header(chain.head + 1), chain.receipts(chain.head + 1)]).toEqual([undefined, "null"]);
    },
  );

  test("settles each block of Avalanche once, several blocks later", () => {
    const { chain } = open("avalanche");
    const settledAt = (number: number) => Number(chain.header(number)?.settledHeight);
    const spans = new Set<number>();
    for (let number = chain.head; number > chain.head - 9; number--) {
      const [from, to] = [settledAt(number - 1) + 1, settledAt(number)];
      spans.add(to - from + 1);
      const receipts = [];
      for (let settled = from; settled <= to; settled++) receipts.push(...receiptsOf(chain, settled));
      expect(countProved(receipts, String(chain.header(number)?.receiptsRoot))).toBe(receipts.length);
      expect(number - to).toBeGreaterThanOrEqual(4);
    }
    expect([...spans].toSorted()).toEqual([0, 1, 2]);
    expect(chain.numberOf("finalized")).toBe(settledAt(chain.head));
  });

  test("grows with the clock, lists tokens on demand, and prunes old states", () => {
    const { chain, clock } = open("bsc");
    const head = chain.head;
    clock.now += 900;
    expect(chain.head).toBe(head + 2);
    const token = chain.list("NEW");
    clock.now += 900;
    const logs = receiptsOf(chain, chain.head).flatMap((receipt) => receipt.logs);
    expect(logs.some(({ address }) => address === token)).toBe(true);
    expect(chain.stateOf(`0x${(chain.head - 128).toString(16)}`)).toBe(chain.head - 128);
    expect(chain.stateOf(`0x${(chain.head - 129).toString(16)}`)).toBe("pruned");
  });

  test("has the reserves that its logs report", () => {
    const { chain } = open("polygon");
    const pools = chain.market.pools.filter(({ form }) => form === "v2");
    for (let number = chain.head - 30; number <= chain.head; number++) {
      const logs = receiptsOf(chain, number).flatMap((receipt) => receipt.logs);
      for (const pool of pools) {
        const sync = logs.findLast(({ address, topics }) => address === pool.address && topics.length === 1);
        if (!sync) continue;
        const { token, quote } = chain.market.reservesAt(pool, number);
        const words = [sync.data.slice(2, 66), sync.data.slice(66)].map((word) => BigInt(`0x${word}`));
        expect(words).toEqual([token, quote]);
      }
    }
  });
});
