import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import type { EvmLog } from "../../../../src/feeds/chain/pools/evm-log.ts";

/** Names of the recorded blocks. */
export const RECORDED = ["ethereum-18000000", "ethereum-18500000", "polygon-50000000"] as const;

interface RecordedReceipt {
  readonly from: string;
  readonly logs: readonly (Omit<EvmLog, "logIndex" | "origin"> & { readonly logIndex: string })[];
}

function read(file: string): unknown {
  const path = fileURLToPath(new URL(`../data/${file}`, import.meta.url));
  return JSON.parse(gunzipSync(readFileSync(path)).toString("utf8"));
}

/** Returns a recorded block's receipts, as the node returned them. */
export function recordedReceipts(name: (typeof RECORDED)[number]): unknown[] {
  return read(`${name}-receipts.json.gz`) as unknown[];
}

/** Returns a recorded block's header, as the node returned it but without unused fields. */
export function recordedHeader(name: (typeof RECORDED)[number]): Record<string, unknown> {
  return (read("headers.json.gz") as Record<string, Record<string, unknown>>)[name] ?? {};
}

/** Returns every log of a recorded block. */
export function recordedLogs(name: (typeof RECORDED)[number]): EvmLog[] {
  return (recordedReceipts(name) as RecordedReceipt[]).flatMap(({ from, logs }) =>
    logs.map((log) => ({ ...log, logIndex: Number(log.logIndex), origin: from })),
  );
}
