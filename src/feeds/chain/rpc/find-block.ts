import * as Hex from "ox/Hex";
import { z } from "zod";
import { Header } from "../evm-block.ts";
import type { Endpoint } from "./endpoint.ts";
import type { EndpointPool } from "./endpoint-pool.ts";
import { RpcFailure } from "./rpc-failure.ts";

interface FoundBlock {
  readonly number: number;
  readonly highestAtMs: number;
  /** The times of the blocks on which the result depends, in milliseconds. */
  readonly times: ReadonlyMap<number, number>;
}

/** Number of blocks over which the first step measures the chain's pace. */
const SAMPLE_BLOCKS = 64;

/**
 * Returns the first block up to `highest` at or after `momentOf(highestAtMs)`, or the highest block
 * if all are earlier. Compares whole seconds. If other hosts respond, one of them must confirm the
 * result; else another endpoint is searched. If no result is confirmed, the earliest block counts.
 * Rejects with RpcFailure.
 */
export async function findBlock(
  { pool, highest }: { readonly pool: EndpointPool; readonly highest: number },
  momentOf: (highestAtMs: number) => number,
  signal: AbortSignal,
): Promise<FoundBlock> {
  const endpoints = pool.usable(highest);
  const found: FoundBlock[] = [];
  let last = new RpcFailure("failed", "no endpoint is available");
  for (const endpoint of endpoints) {
    try {
      const one = await searchBlock(endpoint, highest, momentOf, signal);
      const others = endpoints.filter(({ host }) => host !== endpoint.host);
      if ((await isConfirmed(one, others, signal)) !== false) return one;
      found.push(one);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof RpcFailure)) throw error;
      if (error.kind === "failed") endpoint.markFailure();
      last = error.of(endpoint.name);
    }
  }
  const [earliest] = found.toSorted((one, two) => one.number - two.number);
  if (earliest) return earliest;
  throw last;
}

/** Whether another endpoint has the same times; `undefined` if none responds. */
async function isConfirmed(
  { times }: FoundBlock,
  others: readonly Endpoint[],
  signal: AbortSignal,
): Promise<boolean | undefined> {
  let isContradicted = false;
  for (const other of others) {
    const own = await Promise.all([...times.keys()].map((number) => timeOf(other, number, signal))).catch(
      () => undefined,
    );
    signal.throwIfAborted();
    if (own?.join() === [...times.values()].join()) return true;
    if (own) isContradicted = true;
  }
  return isContradicted ? false : undefined;
}

async function timeOf(endpoint: Endpoint, number: number, signal: AbortSignal): Promise<number> {
  const answer = await endpoint.ask("eth_getBlockByNumber", [Hex.fromNumber(number), false], signal);
  const read = Header.safeParse(answer);
  if (read.success) return read.data.timestamp * 1_000;
  throw new RpcFailure("failed", `returned an invalid block ${number}: ${z.prettifyError(read.error)}`);
}

/**
 * Searches one endpoint's blocks, whose times never decrease: goes back in growing strides, then
 * bisects.
 */
async function searchBlock(
  endpoint: Endpoint,
  highest: number,
  momentOf: (highestAtMs: number) => number,
  signal: AbortSignal,
): Promise<FoundBlock> {
  const times = new Map<number, number>();
  const atMsOf = async (number: number) => {
    const atMs = times.get(number) ?? (await timeOf(endpoint, number, signal));
    times.set(number, atMs);
    return atMs;
  };
  const highestAtMs = await atMsOf(highest);
  const foundAt = (number: number): FoundBlock => {
    const bounds = [...times].filter(([one]) => one === highest || one === number || one === number - 1);
    return { number, highestAtMs, times: new Map(bounds) };
  };
  const moment = momentOf(highestAtMs);
  if (highestAtMs < moment) return foundAt(highest);
  let high = highest;
  let stride = SAMPLE_BLOCKS;
  let low = Math.max(0, high - stride);
  for (let atMs = 0; low > 0; low = Math.max(0, high - stride)) {
    atMs = await atMsOf(low);
    if (atMs < moment) break;
    high = low;
    // The number of blocks to go back from here, at the average pace so far.
    const blocks = ((atMs - moment) / Math.max(1, highestAtMs - atMs)) * (highest - low);
    stride = Math.max(2 * stride, Math.ceil(blocks));
  }
  // Invariant: blocks before `low` are too early, `high` is not.
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if ((await atMsOf(middle)) >= moment) high = middle;
    else low = middle + 1;
  }
  return foundAt(high);
}
