import { z } from "zod";
import { Header } from "../evm-block.ts";
import type { EndpointPool } from "./endpoint-pool.ts";
import { RpcTrouble } from "./rpc-trouble.ts";

interface BlockSearch {
  readonly pool: EndpointPool;
  readonly highest: number;
}

/** Blocks over which the first step learns the chain's pace. */
const SAMPLE_BLOCKS = 64;

/**
 * Returns the first block at or after a moment, which may depend on the highest block's time; the
 * highest block if all are earlier. Uses bisection, because times never decrease along a chain.
 * Rejects with RpcTrouble.
 */
export async function findBlock(
  { pool, highest }: BlockSearch,
  momentOf: (highestAtMs: number) => number,
  signal: AbortSignal,
): Promise<number> {
  const timeOf = async (number: number) => {
    const answer = await pool.ask("eth_getBlockByNumber", [`0x${number.toString(16)}`, false], signal);
    const read = Header.safeParse(answer);
    if (!read.success)
      throw new RpcTrouble("failed", `invalid block ${number}: ${z.prettifyError(read.error)}`);
    return read.data.timestamp * 1_000;
  };
  const highestAtMs = await timeOf(highest);
  const moment = momentOf(highestAtMs);
  if (highestAtMs < moment) return highest;
  // Invariant: blocks before `low` are too early, `high` is not.
  let high = highest;
  let stride = SAMPLE_BLOCKS;
  let low = Math.max(0, high - stride);
  for (let atMs = 0; low > 0; low = Math.max(0, high - stride)) {
    atMs = await timeOf(low);
    if (atMs < moment) break;
    high = low;
    // At the pace so far, one more stride of this length reaches the moment.
    const blocks = ((atMs - moment) / Math.max(1, highestAtMs - atMs)) * (highest - low);
    stride = Math.max(2 * stride, Math.ceil(blocks));
  }
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if ((await timeOf(middle)) >= moment) high = middle;
    else low = middle + 1;
  }
  return high;
}
