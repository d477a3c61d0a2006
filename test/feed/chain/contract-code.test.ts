import { expect, test } from "vitest";
import { NETWORKS } from "../../../src/feed/chain/networks.ts";
import { ContractReader } from "../../../src/feed/chain/rpc/contract-reader.ts";
import { FactStore } from "../../../src/feed/chain/rpc/fact-store.ts";
import { until } from "../exchange/scripted-venue.ts";
import { NodePool } from "./node-pool.ts";
import { ScriptedNode } from "./scripted-node.ts";

const HERE = `0x${"1".repeat(40)}`;
const NOWHERE = `0x${"2".repeat(40)}`;

test("[contracts] a contract is missing only if no endpoint has its code: one without states hides none", async () => {
  await using empty = await new ScriptedNode().listen();
  await using full = await new ScriptedNode().listen();
  await using broken = await new ScriptedNode().listen();
  empty.answer = (method) => (method === "eth_getCode" ? { result: "0x" } : undefined);
  broken.answer = (method) => (method === "eth_getCode" ? { status: 500 } : undefined);
  full.answer = (method, [address]) =>
    method === "eth_getCode" ? { result: address === HERE ? "0x6000" : "0x" } : undefined;
  await using run = new NodePool([empty, broken, full]);
  await until("all are known", () => run.pool.usable(0).length === 3);
  const facts = new FactStore(undefined, run.clock, () => undefined);
  const reader = new ContractReader({
    ...{ network: NETWORKS.bsc, pool: run.pool, facts, clock: run.clock, notify: run.notify },
  });
  expect(await reader.haveCode([HERE, NOWHERE], run.signal)).toEqual(new Set([HERE]));
  facts.close();
});
