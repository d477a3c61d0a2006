import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect } from "vitest";
import { finalBlocks } from "../../../src/feeds/chain/final-blocks.ts";
import { BlockReader } from "../../../src/feeds/chain/rpc/block-reader.ts";
import { EndpointBlocks } from "../../../src/feeds/chain/rpc/endpoint-blocks.ts";
import { lawRuns, shareOf } from "../../support/law-runs.ts";
import { test } from "../../support/time/still-running.ts";
import { until } from "../exchange/scripted-venue.ts";
import { NodePool } from "./nodes/node-pool.ts";
import { ScriptedNode } from "./nodes/scripted-node.ts";
import { encoded, type Header, headerOf, type Receipt, rootOf, SettledChain } from "./nodes/settled-chain.ts";

const never = new AbortController().signal;
const path = new URL("data/avalanche-fuji-58119344-header.json", import.meta.url);
const FUJI: Header = JSON.parse(readFileSync(path, "utf8"));
/** From avalanchego's own test of settlement (TestSettles): the height that each block settles. */
const SETTLED = [0, 0, 0, 0, 1, 1, 3, 3, 3, 7];
const COUNTS = [2, 3, 0, 4, 1, 0, 2, 130, 1, 2];
const CHAIN = new SettledChain(SETTLED, COUNTS);
const PROVABLE = [0, 1, 2, 3, 4, 5, 6, 7];
const hex = (value: number) => `0x${value.toString(16)}`;

/** Starts a node for each chain, and a reader of all nodes. */
async function nodesWith(...chains: readonly SettledChain[]) {
  const nodes = await Promise.all(chains.map(() => new ScriptedNode().listen()));
  for (const [index, node] of nodes.entries()) chains[index]?.answers(node);
  const run = new NodePool(nodes);
  const { pool, clock, notify, signal } = run;
  await until("all nodes are usable", () => pool.usable(0).length === nodes.length);
  return {
    nodes,
    run,
    pool,
    reader: new BlockReader({ pool, clock, notify }),
    blamed: () =>
      nodes.flatMap(({ url }, at) => (pool.usable(0).some(({ name }) => url.endsWith(name)) ? [] : [at])),
    signal,
    [Symbol.asyncDispose]: async () => {
      await run[Symbol.asyncDispose]();
      await Promise.all(nodes.map((node) => node[Symbol.asyncDispose]()));
    },
  };
}

/** Returns the data of a block's logs, from the test's own chain. */
const dataOf = (number: number) =>
  CHAIN.receipts[number]?.flatMap(({ logs }) => logs.map(({ data }) => data));

describe("Avalanche's blocks after Helicon", () => {
  test("[proof] a real header has the hash of its fields, and proves the empty blocks that it settles", async () => {
    const number = Number(FUJI.number);
    const parentHash = hex(7).padEnd(66, "7");
    const below = (by: number, own: string, parent: string) => ({
      number: hex(number - by),
      hash: own,
      parentHash: parent,
      timestamp: FUJI.timestamp,
      receiptsRoot: FUJI.receiptsRoot,
      settledHeight: hex(number - by - 2),
      transactions: [],
    });
    const headers: Record<number, unknown> = {
      [number]: FUJI,
      [number - 1]: below(1, String(FUJI.parentHash), parentHash),
      [number - 2]: below(2, parentHash, parentHash),
    };
    const blocksOf = (fuji: unknown, receipts: readonly unknown[] = []) =>
      new EndpointBlocks({
        ask: async (method, [id]) =>
          method === "eth_getBlockReceipts" ? receipts : ({ ...headers, [number]: fuji }[Number(id)] ?? null),
      });
    const { receipts, proof } = await blocksOf(FUJI).proved(number - 2, never);
    expect([receipts, proof.at(-1)?.header.hash]).toEqual([[], FUJI.hash]);
    for (const lie of [
      { settledHeight: hex(number - 1) },
      { settledHeight: hex(number - 3) },
      { timestamp: hex(Number(FUJI.timestamp) + 1) },
      { receiptsRoot: `0x${"1".repeat(64)}` },
      { hash: `0x${"1".repeat(64)}` },
      { settledExcess: "0x131b81f8" },
    ])
      await expect(blocksOf({ ...FUJI, ...lie }).proved(number - 2, never)).rejects.toThrow(
        `returned a header of block ${number} that does not match its hash`,
      );
    await expect(blocksOf(FUJI, CHAIN.receipts[1]).proved(number - 2, never)).rejects.toThrow("receipts");
  });

  test("[proof] are proved by the header that settles them, at any position among the blocks that it settles", async () => {
    await using run = await nodesWith(CHAIN, CHAIN);
    expect(run.pool.finalHead).toBe(7);
    for (const number of PROVABLE.toReversed()) {
      const block = await run.reader.read(number, run.signal);
      expect([block.hash, block.logs.map(({ data }) => data), block.atMs]).toEqual([
        CHAIN.headers[number]?.hash,
        dataOf(number),
        1_760_000_000_250 + number * 1_000,
      ]);
    }
    expect([run.blamed(), run.run.notices]).toEqual([[], []]);
    // Each header is read once per endpoint, and each block's receipts once. One more request comes
    // first, before it is known that later blocks settle.
    expect(run.nodes.map((node) => node.count("eth_getBlockReceipts"))).toEqual([9, 0]);
    for (const node of run.nodes) expect(node.count("eth_getBlockByNumber")).toBeLessThanOrEqual(12);
  });

  test("[proof] are waited for, without blame, until they are settled and executed, and published in order", async () => {
    const heights = [0, 0, 0, 0, 1, 1, 3, 3, 3, 7, 8, 8, 9, 11];
    const counts = [1, 2, 1, 0, 2, 1, 3, 1, 0, 2, 1, 2, 1, 1];
    const grown = (height: number) => new SettledChain(heights.slice(0, height + 1), counts);
    await using run = await nodesWith(grown(6));
    const { pool, reader, signal, nodes } = run;
    const { clock, notify, notices } = run.run;
    const published: number[] = [];
    const reading = (async () => {
      const options = { pool, reader, clock, random: () => 0.5, from: 1, notify };
      for await (const { block } of finalBlocks(options, signal)) published.push(block.number);
    })().catch(() => undefined);
    for (let height = 6; height < heights.length; height++) {
      const [node] = nodes;
      if (!node) throw new Error("no node");
      const chain = grown(height);
      // At first, the node has not executed the newest settled blocks.
      chain.answers(node, height - chain.settled + 1);
      await run.run.look();
      chain.answers(node);
      for (let poll = 0; poll < 20 && published.at(-1) !== chain.settled; poll++) await run.run.look();
      expect(published).toEqual(Array.from({ length: chain.settled }, (_, index) => index + 1));
    }
    expect([run.blamed(), notices]).toEqual([[], []]);
    await run.run[Symbol.asyncDispose]();
    await reading;
  });

  test("[proof] are pending while the endpoint has no receipts or no later header, which is not a failure", async () => {
    await using run = await nodesWith(CHAIN);
    const [node] = run.nodes;
    if (!node) throw new Error("no node");
    CHAIN.answers(node, 3);
    await expect(run.reader.read(7, run.signal)).rejects.toMatchObject({ kind: "pending" });
    expect((await run.reader.read(3, run.signal)).number).toBe(3);
    // A depth below the newest block, as for an endpoint that does not report its final block.
    const { answer } = node;
    node.answer = (method, params) => (params[0] === "finalized" ? undefined : answer?.(method, params));
    node.head = 11;
    await run.run.look();
    await expect(run.reader.read(8, run.signal)).rejects.toMatchObject({ kind: "pending" });
    expect([run.blamed(), run.run.notices]).toEqual([[], []]);
  });
});

type Lie = readonly [name: string, change: (chain: SettledChain, at: number) => void];

const edit = (chain: SettledChain, at: number, change: (list: Receipt[]) => void) =>
  change(chain.receipts[at] ?? []);
const head = (chain: SettledChain, at: number, change: (header: Header) => object) => {
  const header = chain.headers[at];
  if (header) chain.headers[at] = { ...header, ...change(header) } as Header;
};
const changed =
  (change: (receipt: Receipt) => object): Lie[1] =>
  (chain, at) =>
    edit(chain, at, (list) => {
      const [first] = list;
      if (first) list[0] = { ...first, ...change(first) };
    });

/** Lies about a block's receipts. */
const LIES: readonly Lie[] = [
  ["status", changed(({ status }) => ({ status: status === "0x1" ? "0x0" : "0x1" }))],
  ["gas", changed(({ cumulativeGasUsed }) => ({ cumulativeGasUsed: hex(Number(cumulativeGasUsed) + 1) }))],
  ["bloom", changed(({ logsBloom }) => ({ logsBloom: logsBloom.replace("0x0", "0x1") }))],
  ["type", changed(({ type }) => ({ type: type === "0x2" ? "0x1" : "0x2" }))],
  [
    "log",
    changed(() => ({ logs: [{ address: `0x${"ab".repeat(20)}`, topics: [], data: "0x", logIndex: "0x0" }] })),
  ],
  ["missing", (chain, at) => edit(chain, at, (list) => void list.pop())],
  ["none", (chain, at) => void chain.receipts.splice(at, 1, [])],
  ["added", (chain, at) => edit(chain, at, (list) => void list.push(...list.slice(-1)))],
  [
    "missing with its transaction",
    (chain, at) => {
      edit(chain, at, (list) => void list.pop());
      head(chain, at, ({ transactions }) => ({ transactions: transactions.slice(0, -1) }));
    },
  ],
  [
    "those of the block before",
    (chain, at) => void chain.receipts.splice(at, 1, chain.receipts[at - 1] ?? []),
  ],
];

/** Lies about a header: about the block's own, or the one that settles it. */
const HEADER_LIES: readonly Lie[] = [
  [
    "settled height up",
    (chain, at) => head(chain, at, (one) => ({ settledHeight: hex(Number(one.settledHeight) + 1) })),
  ],
  ["settled height of its own", (chain, at) => head(chain, at, (one) => ({ settledHeight: one.number }))],
  ["root", (chain, at) => head(chain, at, () => ({ receiptsRoot: rootOf(["01"]) }))],
  ["time", (chain, at) => head(chain, at, ({ timestamp }) => ({ timestamp: hex(Number(timestamp) + 60) }))],
  ["parent", (chain, at) => head(chain, at, () => ({ parentHash: rootOf(["02"]) }))],
  ["hash", (chain, at) => head(chain, at, () => ({ hash: rootOf(["03"]) }))],
];

describe("lies about Avalanche's blocks", () => {
  const WITH_RECEIPTS = [1, 3, 4, 6, 7];

  const settledWith = (at: number) => {
    const settlerOf = (number: number) => SETTLED.findIndex((height) => height >= number);
    return PROVABLE.filter((number) => number > 0 && settlerOf(number) === settlerOf(at));
  };

  test("[proof] any change of receipts or headers is refused for all blocks that depend on it, and for no other", async () => {
    const receipts = fc.tuple(fc.constantFrom(...LIES), fc.constantFrom(...WITH_RECEIPTS));
    const headers = fc.tuple(fc.constantFrom(...HEADER_LIES), fc.constantFrom(...PROVABLE.slice(1)));
    await fc.assert(
      fc.asyncProperty(fc.oneof(receipts, headers), async ([[, lie], at]) => {
        const forged = CHAIN.with((copy) => lie(copy, at));
        const blocks = new EndpointBlocks({
          ask: async (method, params) => {
            const answer = forged.answer(method, params);
            return answer && "result" in answer ? answer.result : undefined;
          },
        });
        const isHeaderLie = HEADER_LIES.some(([, other]) => other === lie);
        const refused = isHeaderLie ? [at] : settledWith(at);
        for (const number of PROVABLE) {
          const read = blocks.proved(number, never).then((block) => block.receipts);
          if (refused.includes(number)) await expect(read).rejects.toMatchObject({ kind: "failed" });
          // Other blocks may also need the header. Then they are refused or correct.
          const found = await read.catch(() => (isHeaderLie ? "refused" : []));
          if (found !== "refused" && !refused.includes(number))
            expect(found).toMatchObject(
              CHAIN.receipts[number]?.map(({ transactionHash }) => ({ transactionHash })) ?? [],
            );
        }
      }),
      lawRuns(30, 80),
    );
  });

  // The law above tries all lies. A few are enough here.
  test.each(shareOf([...LIES, ...HEADER_LIES].filter((_, index) => index % 4 === 0)))(
    "[proof] an endpoint with another %s is blamed, and the block comes from the next",
    async (_name, lie) => {
      await using run = await nodesWith(
        CHAIN.with((copy) => lie(copy, 4)),
        CHAIN,
      );
      for (const number of PROVABLE) {
        const { hash, logs } = await run.reader.read(number, run.signal);
        expect([hash, logs.map(({ data }) => data)]).toEqual([CHAIN.headers[number]?.hash, dataOf(number)]);
        expect(run.blamed()).not.toContain(1);
      }
      expect(run.run.notices).toHaveLength(1);
      expect(run.blamed()).toEqual([0]);
    },
  );

  test("[proof] a settling header that is forged with its hash is outvoted, and its endpoint blamed", async () => {
    const forged = CHAIN.with((copy) => {
      changed(() => ({ status: "0x0" }))(copy, 7);
      const receipts = [4, 5, 6, 7].flatMap((number) => copy.receipts[number] ?? []);
      const { hash, ...header } = copy.headers[9] as Header;
      copy.headers[9] = headerOf({ ...header, receiptsRoot: rootOf(receipts.map(encoded)) });
    });
    await using run = await nodesWith(forged, CHAIN, CHAIN);
    await expect(run.reader.read(7, run.signal)).rejects.toThrow("endpoints disagree on block 7");
    const block = await run.reader.readMostCommon(7, CHAIN.headers[6]?.hash, run.signal);
    expect(block?.logs.map(({ data }) => data)).toEqual(dataOf(7));
    expect(run.blamed()).toEqual([0]);
  });

  test("[proof] a receipt that is moved to the block before with its transaction is outvoted", async () => {
    const forged = CHAIN.with((copy) => {
      const [moved] = copy.receipts[7]?.splice(0, 1) ?? [];
      if (!moved) throw new Error("nothing to move");
      // The proof does not cover the indices of logs.
      const logs = moved.logs.map((log, index) => ({ ...log, logIndex: hex(100 + index) }));
      copy.receipts[6]?.push({ ...moved, blockHash: String(copy.headers[6]?.hash), logs });
      for (const at of [6, 7])
        head(copy, at, () => ({ transactions: copy.receipts[at]?.map((one) => one.transactionHash) }));
    });
    await using run = await nodesWith(forged, CHAIN, CHAIN);
    for (const number of [6, 7]) {
      const read = run.reader
        .read(number, run.signal)
        .catch(() => run.reader.readMostCommon(number, undefined, run.signal));
      expect((await read)?.logs.map(({ data }) => data)).toEqual(dataOf(number));
    }
  });
});
