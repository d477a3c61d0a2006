import { z } from "zod";
import { Header } from "../evm-block.ts";
import type { EndpointPool } from "./endpoint-pool.ts";
import { RpcTrouble } from "./rpc-trouble.ts";

/** Where {@link findBlock} looks. */
interface BlockSearch {
  readonly pool: EndpointPool;
  readonly highest: number;
  /** Usual time between blocks, for the first guess. */
  readonly blockMs: number;
}

/**
 * The first block whose time is not before a moment, which may depend on the time of the highest one; the highest where all are before. Times never go
 * back along a chain, so it is found by halving. Rejects with RpcTrouble.
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
      throw new RpcTrouble("failed", `no usable block ${number}: ${z.prettifyError(read.error)}`);
    return read.data.timestamp * 1_000;
  };
  const highestAtMs = await timeOf(highest);
  const moment = momentOf(highestAtMs);
  if (highestAtMs < moment) return highest;
  // Everything before `low` is too early, `high` is not.
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
