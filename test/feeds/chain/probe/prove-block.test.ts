import { expect, test } from "vitest";
import { runProbe } from "../../../../src/app/cli/run-probe.ts";
import { NETWORKS } from "../../../../src/feeds/chain/networks.ts";
import { endpointProbes } from "../../../../src/feeds/chain/probe/endpoint-probes.ts";
// A probe loads this on demand, for seconds on a busy machine. Load it before its clock runs.
import "../../../../src/feeds/chain/probe/check-endpoint.ts";
import { systemClock } from "../../../../src/base/lib/time/clock.ts";
import { PacedClock } from "../../../support/time/paced-clock.ts";
import { ScriptedNode } from "../nodes/scripted-node.ts";
import { SettledChain } from "../nodes/settled-chain.ts";

const CHAIN = new SettledChain([0, 0, 0, 1, 1, 3, 3], [1, 2, 0, 3, 1, 1, 2]);

/** What doctor finds out about the receipts of a node on Avalanche. */
async function receiptsOf(chain: SettledChain, refuses = false, ageMs = 10_000) {
  await using node = await new ScriptedNode().listen();
  node.chainId = NETWORKS.avalanche.chainId;
  node.head = chain.height;
  node.answer = (method, [id]) => {
    if (refuses && id === "finalized") return { error: { code: -32_602, message: "unknown block tag" } };
    const named = id === "latest" ? `0x${chain.height.toString(16)}` : id;
    return chain.answer(method, [named]);
  };
  const clock = new PacedClock(10, Number(chain.headers[3]?.timestamp) * 1_000 + ageMs);
  const probes = endpointProbes({ network: NETWORKS.avalanche, url: node.url, number: 1, clock });
  const probe = probes.find(({ what }) => what === "receipts");
  if (!probe) throw new Error("no such probe");
  // On a busy machine, requests take many steps of the paced clock, which must not reach the limit.
  return await runProbe(probe, systemClock, new AbortController().signal);
}

test("doctor proves a block that Avalanche settles later, as serve does", async () => {
  expect(await receiptsOf(CHAIN)).toMatchObject({
    works: true,
    detail: "block 3 is final, 3 behind the newest, and proved: its 3 logs match its header",
  });
});

test("doctor says that an endpoint reports old blocks as final", async () => {
  expect(await receiptsOf(CHAIN, false, 300_000)).toMatchObject({
    works: false,
    detail: expect.stringMatching(/^reports block 3 as final, which is 3\d\d s old; use another endpoint$/),
  });
});

test("doctor says what is wrong with receipts that the settling block does not prove", async () => {
  const forged = CHAIN.with((copy) => void copy.receipts[2]?.push(...(copy.receipts[1] ?? [])));
  expect(await receiptsOf(forged)).toMatchObject({
    works: false,
    detail: "returned block 2, which has 2 receipts for 0 transactions; use another endpoint",
  });
});

test("doctor waits for a block that is not settled, and then says so", async () => {
  expect(await receiptsOf(CHAIN, true)).toMatchObject({
    works: false,
    detail: "has no header that settles block 5 yet; try again in a few seconds",
  });
});

test("doctor also proves a block as old as a start needs, which some endpoints refuse to return", async () => {
  await using node = await new ScriptedNode().listen();
  node.head = 1_000;
  const clock = new PacedClock(10, node.secondAt(node.head) * 1_000);
  const probes = endpointProbes({ network: NETWORKS.bsc, url: node.url, number: 1, clock });
  const probe = probes.find(({ what }) => what === "receipts");
  if (!probe) throw new Error("no such probe");
  const { signal } = new AbortController();
  const latest = { result: node.headerOf(node.head) };
  node.answer = (_method, [id]) => (id === "latest" ? latest : undefined);
  expect(await runProbe(probe, systemClock, signal)).toMatchObject({
    works: true,
    detail:
      "block 998 is final, 2 behind the newest, and proved: its 0 logs match its header; so is block 798, as old as a start needs",
  });
  const personal = "This method requires a personal token";
  node.answer = (method, [id]) => {
    if (id === "latest") return latest;
    const isOld = method === "eth_getBlockReceipts" && Number(id) < 900;
    return isOld ? { error: { code: -32_000, message: personal } } : undefined;
  };
  expect(await runProbe(probe, systemClock, signal)).toMatchObject({
    works: false,
    detail: `returned error -32000: ${personal}; use another endpoint`,
  });
});
