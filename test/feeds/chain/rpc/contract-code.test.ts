import * as AbiFunction from "ox/AbiFunction";
import * as Hex from "ox/Hex";
import { expect, test } from "vitest";
import { z } from "zod";
import { NETWORKS } from "../../../../src/feeds/chain/networks.ts";
import { ContractReader } from "../../../../src/feeds/chain/rpc/contract-reader.ts";
import { FactStore } from "../../../../src/feeds/chain/rpc/fact-store.ts";
import { decodeCalls, encodeResults } from "../../../support/world/multicall.ts";
import { until } from "../../exchange/scripted-venue.ts";
import { NodePool } from "../nodes/node-pool.ts";
import { type Answer, ScriptedNode } from "../nodes/scripted-node.ts";
import { wallet } from "../nodes/test-chain.ts";

const HERE = `0x${"1".repeat(40)}`;
const NOWHERE = `0x${"2".repeat(40)}`;

test("[contracts] a contract counts as missing only if no endpoint returns its code", async () => {
  await using empty = await new ScriptedNode().listen();
  await using full = await new ScriptedNode().listen();
  await using broken = await new ScriptedNode().listen();
  empty.answer = (method) => (method === "eth_getCode" ? { result: "0x" } : undefined);
  broken.answer = (method) => (method === "eth_getCode" ? { status: 500 } : undefined);
  full.answer = (method, [address]) =>
    method === "eth_getCode" ? { result: address === HERE ? "0x6000" : "0x" } : undefined;
  await using run = new NodePool([empty, broken, full]);
  await until("all nodes are usable", () => run.pool.usable(0).length === 3);
  const facts = new FactStore(undefined, run.clock, () => undefined);
  const reader = new ContractReader({
    network: NETWORKS.bsc,
    pool: run.pool,
    facts,
    clock: run.clock,
    notify: run.notify,
  });
  expect(await reader.haveCode([HERE, NOWHERE], run.signal)).toEqual(new Set([HERE]));
  facts.close();
});

test.each([
  { decimals: [6, 7, 8], outcome: undefined },
  { decimals: [6, 7, 6], outcome: 6 },
  { decimals: [7, 6, 6], outcome: 6 },
  { decimals: [6, 6, 8], outcome: 6 },
])(
  "[facts] if three hosts return decimals $decimals, $outcome is used, because a value needs two hosts",
  async ({ decimals, outcome }) => {
    await using first = await new ScriptedNode().listen();
    await using second = await new ScriptedNode().listen();
    await using third = await new ScriptedNode().listen();
    const nodes = [first, second, third];
    for (const [index, node] of nodes.entries())
      node.answer = (method, params) =>
        method === "eth_call" ? answerDecimals(decimals[index] ?? 0, params) : undefined;
    await using run = new NodePool(nodes);
    await until("all nodes are usable", () => run.pool.usable(0).length === nodes.length);
    const facts = new FactStore(undefined, run.clock, () => undefined);
    const reader = new ContractReader({
      network: NETWORKS.bsc,
      pool: run.pool,
      facts,
      clock: run.clock,
      notify: run.notify,
    });
    const expected = outcome === undefined ? [] : [{ address: HERE, decimals: outcome }];
    expect(await reader.tokens([HERE], run.signal)).toEqual(expected);
    expect(facts.get(`token ${HERE}`)).toEqual(expected[0]);
    const isUndecided = run.notices.some((sentence) => sentence.endsWith(" decides 0 of them; ignoring 1"));
    expect(isUndecided).toBe(outcome === undefined);
    facts.close();
  },
);

test("[facts] contracts that stay undecided are reported once, in one line with the hosts and contracts, and again when they are decided", async () => {
  await using first = await new ScriptedNode().listen();
  await using second = await new ScriptedNode().listen();
  await using third = await new ScriptedNode().listen();
  const nodes = [first, second, third];
  let [last, isSilent] = [8, false];
  for (const [index, node] of nodes.entries())
    node.answer = (method, params) => {
      if (method !== "eth_call") return undefined;
      if (node === third && isSilent) return { status: 500 };
      return answerDecimals([6, 7, last][index] ?? 0, params);
    };
  await using run = new NodePool(nodes);
  await until("all are known", () => run.pool.usable(0).length === nodes.length);
  const [one, two, three] = run.pool.hosts.map(({ name }) => name);
  const facts = new FactStore(undefined, run.clock, () => undefined);
  const reports: unknown[] = [];
  const reader = new ContractReader({
    network: NETWORKS.bsc,
    pool: run.pool,
    facts,
    clock: run.clock,
    notify: (...report) => void reports.push(report),
  });
  const askAbout = async (...addresses: readonly string[]) => {
    await reader.tokens(addresses, run.signal);
    return reports.splice(0);
  };
  const differ = `${one} and ${two} differ about`;
  const named = (...addresses: readonly string[]) => ({
    contracts: addresses.map((address) => `token ${address}`),
  });
  const open = (count: number) => `${differ} 1 of ${count} contracts; ${three} decides 0 of them; ignoring 1`;
  expect(await askAbout(HERE)).toEqual([["warn", open(1), named(HERE)]]);
  expect(await askAbout(HERE)).toEqual([]);
  expect(await askAbout(HERE, NOWHERE)).toEqual([["warn", open(2), named(NOWHERE)]]);
  expect(await askAbout(NOWHERE, HERE)).toEqual([]);
  last = 6;
  const decided = `${differ} 1 of 1 contracts; ${three} decides 1 of them`;
  expect(await askAbout(HERE)).toEqual([["warn", decided, named(HERE)]]);
  isSilent = true;
  const other = `0x${"3".repeat(40)}`;
  const silent = `${differ} 1 of 1 contracts; ${three} does not respond; ignoring 1`;
  expect(await askAbout(other)).toEqual([["warn", silent, named(other)]]);
  facts.close();
});

test("[facts] a value from one host does not end a reported dispute: only a confirmed one does", async () => {
  await using first = await new ScriptedNode().listen();
  await using second = await new ScriptedNode().listen();
  const [one, other] = [wallet(1), wallet(2)];
  let tokens: readonly (string | undefined)[] = [];
  for (const [index, node] of [first, second].entries())
    node.answer = (method, params) => (method === "eth_call" ? answerPair(tokens[index], params) : undefined);
  await using run = new NodePool([first, second]);
  await until("both are known", () => run.pool.usable(0).length === 2);
  const facts = new FactStore(undefined, run.clock, () => undefined);
  const reports: string[] = [];
  const reader = new ContractReader({
    network: NETWORKS.bsc,
    pool: run.pool,
    facts,
    clock: run.clock,
    notify: (_level, message) => void reports.push(message),
  });
  let asked = 0;
  /** Asks about the same pool, each time with another emitter, so that no stored answer counts. */
  const reportsIf = async (...each: readonly (string | undefined)[]) => {
    tokens = each;
    asked += 1;
    await reader.identify([{ pool: HERE, form: "v2", emitter: wallet(asked) }], run.signal);
    return reports.splice(0);
  };
  const dispute = [expect.stringMatching(/ differ about 1 of 1 contracts; ignoring 1$/)];
  expect(await reportsIf(one, other)).toEqual(dispute);
  expect(await reportsIf(one, undefined)).toEqual([]);
  expect(await reportsIf(one, other)).toEqual([]);
  expect(await reportsIf(one, one)).toEqual([]);
  expect(await reportsIf(one, other)).toEqual(dispute);
  facts.close();
});

const DECIMALS = "0x313ce567";
const Params = z.tuple([z.object({ data: z.custom<Hex.Hex>((data) => Hex.validate(data)) }), z.string()]);

/** Answers a Multicall3 request as if every contract were a token with these decimals. */
function answerDecimals(decimals: number, params: readonly unknown[]): Answer {
  return answerCalls(params, (callData) =>
    callData === DECIMALS ? Hex.fromNumber(decimals, { size: 32 }) : undefined,
  );
}

/** Answers a Multicall3 request as if every contract were a pair with that `token1`, or none. */
function answerPair(token1: string | undefined, params: readonly unknown[]): Answer {
  const factory = NETWORKS.bsc.factories.find(({ form }) => form === "v2");
  const results = new Map([
    [AbiFunction.getSelector("function factory()"), factory?.address],
    [AbiFunction.getSelector("function token0()"), NETWORKS.bsc.quotes[0]?.address],
    [AbiFunction.getSelector("function token1()"), token1],
    [AbiFunction.getSelector("function getPair(address, address)"), HERE],
  ]);
  return answerCalls(params, (callData) => {
    const address = token1 && results.get(Hex.slice(callData, 0, 4));
    return address && Hex.fromNumber(BigInt(address), { size: 32 });
  });
}

/** Answers a Multicall3 request. A call without a result fails. */
function answerCalls(
  params: readonly unknown[],
  resultOf: (callData: Hex.Hex) => Hex.Hex | "" | undefined,
): Answer {
  const [{ data }] = Params.parse(params);
  const results = decodeCalls(data).map(({ target, callData }) => {
    const returnData = resultOf(callData) || undefined;
    return {
      success: returnData !== undefined || BigInt(target) === 9n,
      returnData: returnData ?? "0x",
    } as const;
  });
  return { result: encodeResults(results) };
}
