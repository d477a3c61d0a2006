import type { Clock } from "../../../base/lib/time/clock.ts";
import { MINUTE_MS, SECOND_MS } from "../../../base/lib/time/time.ts";
import type { Network } from "../network.ts";
import { BlockReader } from "../rpc/block-reader.ts";
import { EndpointPool } from "../rpc/endpoint-pool.ts";
import { RpcFailure } from "../rpc/rpc-failure.ts";

interface BlockProbe {
  readonly network: Network;
  readonly url: string;
  readonly clock: Clock;
}

const POLL_EVERY_MS = 250;
const MAX_RETRIES = 20;
/**
 * Maximum age of the newest final block. Some nodes report a block as final only half an hour
 * later, when another chain has confirmed it.
 */
const MAX_AGE_MS = 2 * MINUTE_MS;
/** Blocks of the 90 seconds before the present, on the fastest chain. Some endpoints lack them. */
const START_BLOCKS = 200;
const ADVICE = {
  rate: "use your own key or another endpoint",
  refused: "use an endpoint that has eth_getBlockReceipts",
  reverted: "use another endpoint",
  pending: "try again in a few seconds",
  failed: "use another endpoint",
} as const satisfies Record<RpcFailure["kind"], string>;

/**
 * Proves the newest final block, and one as old as a start needs, with the code that a chain's
 * feed uses. Rejects if the endpoint is unsuitable.
 *
 * @param newest The endpoint's newest block.
 */
export async function proveBlock(
  { network, url, clock }: BlockProbe,
  newest: number,
  signal: AbortSignal,
): Promise<string> {
  const over = new AbortController();
  const inner = AbortSignal.any([signal, over.signal]);
  const faults: string[] = [];
  // Drop the endpoint's name, because the finding has it.
  const notify = (_level: string, words: string) => faults.push(words.slice(words.indexOf(" ") + 1));
  const pool = new EndpointPool({ urls: [url], network, clock, notify });
  /**
   * Retries while the block is pending: Avalanche's nodes can prove a block only after a few
   * seconds.
   */
  const whenSettled = async <T>(read: () => Promise<T>): Promise<T> => {
    for (let retries = 0; ; retries++) {
      try {
        return await read();
      } catch (error) {
        const isPending = error instanceof RpcFailure && error.kind === "pending";
        if (!isPending || retries === MAX_RETRIES) throw error;
        await pool.changed(SECOND_MS, inner);
      }
    }
  };
  const running = pool.run(inner);
  try {
    for (; pool.finalHead < 0; await pool.changed(POLL_EVERY_MS, inner))
      if (faults[0] !== undefined) throw new Error(faults[0]);
    const { finalHead } = pool;
    const [endpoint] = pool.usable(finalHead);
    const reader = new BlockReader({ pool, clock, notify });
    const { logs, atMs } = await whenSettled(() => reader.read(finalHead, inner));
    const ageS = Math.round((clock.now() - atMs) / SECOND_MS);
    if (ageS * SECOND_MS > MAX_AGE_MS)
      throw new Error(`reports block ${finalHead} as final, which is ${ageS} s old; use another endpoint`);
    const old = finalHead - START_BLOCKS;
    if (old > 0) await whenSettled(() => reader.read(old, inner));
    const start = old > 0 ? `; so is block ${old}, as old as a start needs` : "";
    const depth = network.isFinalByDepth
      ? " (by its depth)"
      : " (assumed: the endpoint does not report its final block)";
    const reason = endpoint?.reportsFinal ? "" : depth;
    return `block ${finalHead} is final${reason}, ${Math.max(0, newest - finalHead)} behind the newest, and proved: its ${logs.length} logs match its header${start}`;
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof RpcFailure)) throw error;
    // Use the message without the endpoint's name, because the finding has it.
    const { message } = error.cause instanceof RpcFailure ? error.cause : error;
    throw new Error(`${message}; ${ADVICE[error.kind]}`, { cause: error });
  } finally {
    over.abort();
    await running;
  }
}
