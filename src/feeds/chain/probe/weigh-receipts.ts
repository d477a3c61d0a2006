import { gzipSync } from "node:zlib";
import type { Endpoint } from "../rpc/endpoint.ts";
import { RpcFailure } from "../rpc/rpc-failure.ts";

/** `timestamp`: seconds since 1970 UTC. */
type BlockTime = Readonly<Record<"number" | "timestamp", number>>;

/** Blocks whose receipts are measured, counted back from the newest. */
const SAMPLES = [4, 12, 20] as const;
const DAY_S = 86_400;

/**
 * Estimates the daily size of all blocks' receipts, at the pace between two blocks. Rejects if the
 * endpoint lacks receipts or sends them uncompressed.
 *
 * @param encodings The `content-encoding` of each of the endpoint's responses.
 */
export async function weighReceipts(
  endpoint: Endpoint,
  encodings: readonly (string | null)[],
  newest: BlockTime,
  earlier: BlockTime,
  signal: AbortSignal,
): Promise<string> {
  let bytes = 0;
  let zipped = 0;
  const before = encodings.length;
  for (const age of SAMPLES) {
    const id = `0x${Math.max(0, newest.number - age).toString(16)}`;
    const receipts = await endpoint.ask("eth_getBlockReceipts", [id], signal).catch((error: unknown) => {
      if (!(error instanceof RpcFailure)) throw error;
      throw new Error(`${error.message}; Flarewire reads every block's receipts: use another endpoint`);
    });
    const text = JSON.stringify(receipts ?? null);
    bytes += Buffer.byteLength(text);
    zipped += gzipSync(text).length;
  }
  const blockS = (newest.timestamp - earlier.timestamp) / Math.max(1, newest.number - earlier.number);
  const perDay = DAY_S / Math.max(0.1, blockS) / SAMPLES.length;
  const [raw, small] = [bytes, zipped].map((sum) => formatBytes(sum * perDay));
  if (!encodings.slice(before).includes(null))
    return `receipts of a day take about ${small}, compressed from ${raw}`;
  throw new Error(
    `sends receipts uncompressed: about ${raw} a day instead of ${small}; prefer an endpoint with gzip`,
  );
}

function formatBytes(bytes: number): string {
  const power = Math.min(4, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)));
  return `${Number((bytes / 1_000 ** power).toPrecision(2))} ${["B", "kB", "MB", "GB", "TB"][power]}`;
}
