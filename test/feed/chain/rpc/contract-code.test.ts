import { decodeFunctionData, encodeFunctionResult, isHex, multicall3Abi, numberToHex } from "viem";
import { expect, test } from "vitest";
import { z } from "zod";
import { NETWORKS } from "../../../../src/feed/chain/networks.ts";
import { ContractReader } from "../../../../src/feed/chain/rpc/contract-reader.ts";
import { FactStore } from "../../../../src/feed/chain/rpc/fact-store.ts";
import { until } from "../../exchange/scripted-venue.ts";
import { NodePool } from "../nodes/node-pool.ts";
import { type Answer, ScriptedNode } from "../nodes/scripted-node.ts";

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
    ...{ network: NETWORKS.bsc, pool: run.pool, facts, clock: run.clock, notify: run.notify },
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
      ...{ network: NETWORKS.bsc, pool: run.pool, facts, clock: run.clock, notify: run.notify },
    });
    const expected = outcome === undefined ? [] : [{ address: HERE, decimals: outcome }];
    expect(await reader.tokens([HERE], run.signal)).toEqual(expected);
    expect(facts.get(`token ${HERE}`)).toEqual(expected[0]);
    const isUndecided = run.notices.some((sentence) => sentence.endsWith("1 of them; ignoring these"));
    expect(isUndecided).toBe(outcome === undefined);
    facts.close();
  },
);

const DECIMALS = "0x313ce567";
const Params = z.tuple([z.object({ data: z.custom<`0x${string}`>(isHex) }), z.string()]);

/** Answers a Multicall3 request as if every contract were a token with these decimals. */
function answerDecimals(decimals: number, params: readonly unknown[]): Answer {
  const [{ data }] = Params.parse(params);
  const { functionName, args } = decodeFunctionData({ abi: multicall3Abi, data });
  if (functionName !== "aggregate3") throw new Error(`unexpected call of ${functionName}`);
  const result = args[0].map(({ target, callData }) => {
    const isDecimals = callData === DECIMALS;
    const returnData = isDecimals ? numberToHex(decimals, { size: 32 }) : ("0x" as const);
    return { success: isDecimals || BigInt(target) === 9n, returnData };
  });
  return { result: encodeFunctionResult({ abi: multicall3Abi, functionName, result }) };
}
