import { createServer } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Finding, runProbe } from "../../../../src/app/cli/run-probe.ts";
import type { Clock } from "../../../../src/base/lib/time/clock.ts";
import type { Network } from "../../../../src/feeds/chain/network.ts";
import { NETWORKS } from "../../../../src/feeds/chain/networks.ts";
import { endpointProbes } from "../../../../src/feeds/chain/probe/endpoint-probes.ts";
import { freePort } from "../../../support/servers/free-port.ts";
import { PacedClock } from "../../../support/time/paced-clock.ts";
import { Exchange } from "../market/exchange.ts";
import { describeOnAnvil } from "../nodes/anvil.ts";
import { type Fault, FaultyNode } from "../nodes/faulty-node.ts";

const NEEDED = ["chain", "block", "receipts", "code", "call"];

let exchange: Exchange;
let node: FaultyNode;

/** What is found, by what was tried. */
async function findings(
  url: string,
  network: Network = exchange.network,
  clock: Clock = new PacedClock(1, exchange.chain.nextAt * 1_000),
): Promise<Readonly<Record<string, Finding>>> {
  const signal = new AbortController().signal;
  const probes = endpointProbes({ network, url, number: 1, clock });
  const found = await Promise.all(probes.map((probe) => runProbe(probe, clock, signal)));
  return Object.fromEntries(found.map((finding) => [finding.what, finding]));
}

function broken(found: Readonly<Record<string, Finding>>): readonly string[] {
  return Object.values(found).flatMap(({ what, works, isNeeded }) => (works || !isNeeded ? [] : [what]));
}

describeOnAnvil("what following a chain needs of an endpoint", () => {
  beforeAll(async () => {
    exchange = await Exchange.open();
    node = await new FaultyNode(exchange.chain.url).start();
  });
  afterAll(async () => {
    await node[Symbol.asyncDispose]();
    await exchange.chain[Symbol.asyncDispose]();
  });

  test("a good one: every required probe works and reports its result", async () => {
    const found = await findings(exchange.chain.url);
    expect([Object.keys(found), broken(found)]).toEqual([[...NEEDED, "logs", "traffic"], []]);
    expect(found.chain?.detail).toBe("56, which is test");
    expect(found.block?.detail).toMatch(/^the newest block, \d+, is -?\d+ s old$/);
    expect(found.receipts?.detail).toMatch(
      /^block \d+ is final, 2 behind the newest, and proved: its \d+ logs match its header$/,
    );
    expect(found.code?.detail).toMatch(/^\d of \d contracts of test exist$/);
    expect(found.call?.detail).toMatch(/^Multicall3 can be called, at block \d+$/);
    expect(found.logs).toMatchObject({ works: true, isNeeded: false });
    expect(found.logs?.detail).toBe(
      "eth_getLogs works over at least 10000 blocks; Flarewire does not need it",
    );
  });

  test("[traffic] a day's receipts are weighed: a service without gzip costs a multiple, and is named as such", async () => {
    const plain = await findings(node.url);
    expect(plain.traffic).toMatchObject({ works: false, isNeeded: false });
    expect(plain.traffic?.detail).toMatch(
      /^sends receipts uncompressed: about [\d.]+ [kMG]?B a day instead of [\d.]+ [kMG]?B; prefer an endpoint with gzip$/,
    );
    node.compresses = true;
    const zipped = await findings(node.url);
    node.compresses = false;
    expect(zipped.traffic?.works).toBe(true);
    expect(zipped.traffic?.detail).toMatch(
      /^receipts of a day take about [\d.]+ [kMG]?B, compressed from [\d.]+ [kMG]?B$/,
    );
    node.fault = { kind: "no-receipts" };
    const none = await findings(node.url);
    node.fault = { kind: "none" };
    expect(none.traffic?.detail).toBe(
      "does not support the method (-32601); Flarewire reads every block's receipts: use another endpoint",
    );
  });

  test("the same over a WebSocket, with pushed blocks", async () => {
    const paced = new PacedClock(1, 0);
    // It agrees with the chain, however many blocks are mined meanwhile.
    const clock: Clock = {
      now: () => exchange.chain.nextAt * 1_000,
      monotonic: () => paced.monotonic(),
      sleep: (ms, signal) => paced.sleep(ms, signal),
      every: (ms, fn) => paced.every(ms, fn),
    };
    const looking = findings(exchange.chain.url.replace("http", "ws"), exchange.network, clock);
    let isOver = false;
    const done = looking.finally(() => {
      isOver = true;
    });
    // The listener gets the next block at an unknown time, so mine until it is done.
    while (!isOver) {
      await exchange.chain.mine();
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const found = await done;
    expect([Object.keys(found), broken(found)]).toEqual([[...NEEDED, "logs", "stream"], []]);
    expect(found.stream?.detail).toBe("pushes new blocks");
  });

  const FAULTS: readonly (readonly [Fault, readonly string[], RegExp])[] = [
    [{ kind: "foreign" }, ["chain", "receipts"], /^serves chain 1, not 56; use an endpoint of test$/],
    [{ kind: "html" }, NEEDED, /^returned 502$/],
    [
      { kind: "busy", times: 1_000 },
      NEEDED,
      /^refuses requests because there are too many; use your own key/,
    ],
    [
      { kind: "no-receipts" },
      ["receipts"],
      /^does not support the method \(-32601\); use an endpoint that has eth_getBlockReceipts$/,
    ],
    [{ kind: "wrong-types" }, ["block", "receipts"], /^returned data of an unexpected type$/],
  ];
  test.each(FAULTS)(
    "one that misbehaves ($kind) is detected, and its key is not shown",
    async (fault, wrong, words) => {
      node.fault = fault;
      const found = await findings(node.url);
      node.fault = { kind: "none" };
      expect(broken(found)).toEqual(wrong);
      expect(found[wrong[0] ?? ""]?.detail).toMatch(words);
      expect(JSON.stringify(found)).not.toContain("secret-key");
    },
  );

  test("one that breaks off or does not exist is detected", async () => {
    const cut = createServer((_request, response) => {
      response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
      response.write('{"jsonrpc":', () => response.destroy());
    });
    const port = await freePort();
    await new Promise<void>((resolve) => cut.listen(port, "127.0.0.1", resolve));
    const broke = await findings(`http://127.0.0.1:${port}`);
    cut.closeAllConnections();
    await new Promise((resolve) => cut.close(resolve));
    expect([broken(broke), broke.chain?.detail]).toEqual([NEEDED, "broke off the connection"]);
    const absent = await findings(`ws://127.0.0.1:${port}`);
    expect(broken(absent)).toEqual([...NEEDED, "stream"]);
    expect(absent.chain?.detail).toBe("is unreachable over its WebSocket");
  });

  test("one that hangs times out", async () => {
    node.fault = { kind: "hangs" };
    const found = await findings(
      node.url,
      exchange.network,
      new PacedClock(50, exchange.chain.nextAt * 1_000),
    );
    node.fault = { kind: "none" };
    expect(broken(found)).toEqual(NEEDED);
    expect(found.chain?.detail).toBe("did not respond within 45 s");
  });

  test("missing contracts and old blocks are reported", async () => {
    const found = await findings(exchange.chain.url, { ...NETWORKS.bsc, finalityBlocks: 1 });
    expect(broken(found)).toEqual(["code"]);
    expect(found.code?.detail).toContain("missing: the factory of PancakeSwap V2");
    const late = await findings(
      exchange.chain.url,
      exchange.network,
      new PacedClock(1, (exchange.chain.nextAt + 90) * 1_000),
    );
    expect(broken(late)).toEqual(["block"]);
    expect(late.block?.detail).toMatch(/s old: the endpoint is behind, or this machine's clock is wrong$/);
    const early = await findings(
      exchange.chain.url,
      exchange.network,
      new PacedClock(1, (exchange.chain.nextAt - 90) * 1_000),
    );
    expect(early.block?.detail).toMatch(/this machine's clock is slow/);
  });
});
