import { z } from "zod";
import { Header } from "../evm-block.ts";
import type { EndpointPool } from "./endpoint-pool.ts";
import { RpcTrouble } from "./rpc-trouble.ts";

interface BlockSearch {
  readonly pool: EndpointPool;
  readonly highest: number;
  /** Usual time between blocks, for the first guess. */
  readonly blockMs: number;
}

/**
 * Returns the first block at or after a moment, which may depend on the highest block's time; the
 * highest block if all are earlier. Uses bisection, because times never decrease along a chain.
 * Rejects with RpcTrouble.
 */
export async function findBlock(
  { pool, highest, blockMs }: BlockSearch,
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
  let stride = Math.max(1, Math.ceil((highestAtMs - moment) / blockMs));
  let low = Math.max(0, high - stride);
  while (low > 0 && (await timeOf(low)) >= moment) {
    high = low;
    stride *= 2;
    low = Math.max(0, high - stride);
  }
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if ((await timeOf(middle)) >= moment) high = middle;
    else low = middle + 1;
  }
  return high;
}
