import * as Abi from "ox/Abi";
import { afterEach, expect, test, vi } from "vitest";
import type { Inquiry } from "../../src/feeds/chain/pools/forms/pool-form.ts";
import { Endpoint } from "../../src/feeds/chain/rpc/endpoint.ts";
import { EndpointBlocks } from "../../src/feeds/chain/rpc/endpoint-blocks.ts";
import { EndpointPool } from "../../src/feeds/chain/rpc/endpoint-pool.ts";
import { Multicall } from "../../src/feeds/chain/rpc/multicall.ts";
import { ManualClock } from "../support/time/manual-clock.ts";
import { encodeResults } from "../support/world/multicall.ts";
import { SyntheticChain } from "../support/world/synthetic-chain.ts";
import { CHANGES, changed, mutationsOf, pathsOf, textOf } from "./mutations.ts";

/* Changes each field of a node's answers, as mutated-messages.test.ts does. */

const TOKEN = `0x${"ab".repeat(20)}`;
const TOKEN_ABI = Abi.from(["function decimals() view returns (uint256)"]);
const chain = new SyntheticChain("bsc", { pools: 2, swaps: 2, pairs: 2, others: 1 }, () => 1_700_000_040_000);
const number = chain.head - 5;

test("no changed field of a block or its receipts is accepted", async () => {
  const header = chain.header(number);
  const receipts: unknown = JSON.parse(chain.receipts(number));
  const { signal } = new AbortController();
  const proved = async (answers: { readonly header: unknown; readonly receipts: unknown }) => {
    const ask = async (method: string) =>
      method === "eth_getBlockReceipts" ? answers.receipts : answers.header;
    const block = await new EndpointBlocks({ ask }).proved(number, signal);
    return textOf({ header: block.header, receipts: block.receipts });
  };
  const usual = await proved({ header, receipts });
  const counts = { same: 0, said: 0 };
  const silent: string[] = [];
  for (const part of ["header", "receipts"] as const) {
    const whole = { header, receipts };
    for (const path of pathsOf(whole[part])) {
      for (const [kind, change] of Object.entries(CHANGES)) {
        const answers = { ...whole, [part]: changed(whole[part], path, change) };
        const found = await proved(answers).catch((error: unknown) => {
          expect(error).toMatchObject({ name: "RpcFailure" });
          return undefined;
        });
        if (found === undefined) counts.said += 1;
        else if (found === usual) counts.same += 1;
        else silent.push(`${part}.${path.join(".")} ${kind}`);
      }
    }
  }
  expect(silent).toEqual([]);
  expect(counts).toEqual({ same: 88, said: 96 });
});

afterEach(() => vi.unstubAllGlobals());

/** Answers each request with its method's answer, or as a node that lacks the method. */
function answerWith(answers: Readonly<Record<string, unknown>>): void {
  vi.stubGlobal("fetch", async (_url: unknown, init: RequestInit) => {
    const { id, method } = JSON.parse(String(init.body));
    const whole = { jsonrpc: "2.0", id };
    if (Object.hasOwn(answers, method)) return Response.json({ ...whole, ...Object(answers[method]) });
    return Response.json({ ...whole, error: { code: -32_601, message: "the method does not exist" } });
  });
}

test("an endpoint whose chain id cannot be read is not used, and says why", async () => {
  const usual = { result: `0x${(56).toString(16)}` };
  const findingOf = async (answer: unknown) => {
    answerWith({ eth_chainId: answer, eth_blockNumber: { result: "0x64" } });
    const said: string[] = [];
    const stop = new AbortController();
    const clock = new ManualClock();
    const notify = (_level: string, words: string) => said.push(words);
    const network = { chainId: 56, finalityBlocks: 3 };
    const pool = new EndpointPool({ urls: ["http://n"], network, clock, notify });
    const running = pool.run(stop.signal);
    await clock.nextSleep();
    const found = { head: pool.finalHead, trouble: pool.trouble("bsc"), said };
    stop.abort();
    await running;
    return found;
  };
  expect(await findingOf(usual)).toEqual({ head: 97, trouble: undefined, said: [] });
  const mutations = [...mutationsOf(usual)];
  for (const [what, answer] of mutations) {
    const { head, trouble, said } = await findingOf(answer);
    expect([what, head]).toEqual([what, -1]);
    expect([what, trouble]).toEqual([what, expect.stringMatching(/because it .*(chain id|returned|result)/)]);
    expect([what, said.length]).toEqual([what, 1]);
  }
  expect(mutations).toHaveLength(4);
});

test("a final block that cannot be read is counted, and its depth decides; a node may know none", async () => {
  const usual = { result: chain.header(number) };
  const findingOf = async (answer: unknown) => {
    answerWith({ eth_getHeaderByNumber: answer, eth_blockNumber: { result: "0x64" } });
    const options = { url: "http://n", timeoutMs: 1_000, onFinalHead: () => undefined };
    const finality = { finalityBlocks: 3 };
    const endpoint = new Endpoint({ ...options, finality, clock: new ManualClock() });
    const failure = await endpoint.pollFinalHead(new AbortController().signal);
    return { head: endpoint.finalHead, failure, counts: endpoint.tally.report("bsc", "n", true).unreadable };
  };
  const counts = { same: 0, said: 0, unknown: 0 };
  for (const [what, answer] of mutationsOf(usual)) {
    const found = await findingOf(answer);
    if (found.head === number) counts.same += 1;
    else if (what === "result null") {
      expect([what, found]).toEqual([what, { head: 97, failure: undefined, counts: {} }]);
      counts.unknown += 1;
    } else {
      expect([what, found.head, Object.keys(found.counts)]).toEqual([
        what,
        97,
        [expect.stringMatching(/^final block: (number|it) is (missing|null|invalid)$/)],
      ]);
      counts.said += 1;
    }
  }
  expect(counts).toEqual({ same: 68, said: 7, unknown: 1 });
});

test("no changed answer of a call makes a token appear or vanish in silence", async () => {
  const calls = [{ abi: TOKEN_ABI, address: TOKEN, functionName: "decimals" }];
  function* inquiry(): Inquiry<unknown> {
    return yield calls;
  }
  const results = [
    { success: true, returnData: `0x${"12".padStart(64, "0")}` },
    { success: true, returnData: "0x" },
  ] as const;
  const usual = { result: encodeResults(results) };
  const findingOf = async (answer: unknown) => {
    answerWith({ eth_call: answer });
    const clock = new ManualClock();
    const options = {
      url: "http://n",
      clock,
      timeoutMs: 1_000,
      finality: { finalityBlocks: 3 },
      onFinalHead: () => undefined,
    };
    const multicall = new Multicall(new Endpoint(options));
    return await multicall
      .inquire([inquiry()], new AbortController().signal)
      .catch((error: unknown) => error);
  };
  expect(await findingOf(usual)).toEqual([[18n]]);
  const mutations = [...mutationsOf(usual)];
  for (const [what, answer] of mutations)
    expect([what, await findingOf(answer)]).toEqual([what, expect.objectContaining({ name: "RpcFailure" })]);
  expect(mutations).toHaveLength(4);
});
