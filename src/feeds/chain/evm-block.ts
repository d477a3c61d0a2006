import { z } from "zod";
import type { EvmLog } from "./pools/evm-log.ts";

/*
 * Blocks as nodes return them by JSON-RPC. A provider's response is untrusted: it is parsed by
 * schema, and contradictory data is refused.
 */

const lower = (text: string) => text.toLowerCase();
const Hash = z
  .string()
  .regex(/^0x[0-9a-fA-F]{64}$/)
  .transform(lower);
const Address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .transform(lower);
const Data = z
  .string()
  .regex(/^0x([0-9a-fA-F]{2})*$/)
  .transform(lower);
/** An integer within a double's precision. */
export const Quantity = z
  .string()
  .regex(/^0x[0-9a-fA-F]{1,14}$/)
  .transform(Number)
  .refine(Number.isSafeInteger);

/** The fields of a block's header that are used here. */
export const Header = z.object({
  number: Quantity,
  hash: Hash,
  parentHash: Hash,
  /** Seconds since 1970 UTC. */
  timestamp: Quantity.refine((seconds) => seconds <= 253_402_300_799),
  /** The same time in milliseconds, on Avalanche. */
  timestampMilliseconds: Quantity.optional(),
  receiptsRoot: Hash,
  /** On Avalanche, the last of the blocks whose receipts `receiptsRoot` covers. */
  settledHeight: Quantity.optional(),
  /** Hashes only. */
  transactions: z.array(Hash),
});
export type Header = z.infer<typeof Header>;

const ReceiptLog = z.object({
  address: Address,
  topics: z.array(Hash).max(4),
  data: Data,
  logIndex: Quantity,
});

/** A receipt, with every field that its block's root covers. */
export const Receipt = z.object({
  type: Quantity.optional(),
  /** Before Byzantium, in place of `status`. */
  root: Hash.optional(),
  status: Quantity.optional(),
  cumulativeGasUsed: Quantity,
  logsBloom: Data,
  logs: z.array(ReceiptLog),
  /** Of deposits, on chains of the OP Stack. */
  depositNonce: Quantity.optional(),
  depositReceiptVersion: Quantity.optional(),
  transactionHash: Hash,
  blockHash: Hash,
  from: Address,
});
export type Receipt = z.infer<typeof Receipt>;

/** The receipts of one block, in order. */
export const Receipts = z.array(Receipt);

/** A block whose parts are consistent. */
export interface EvmBlock extends Pick<Header, "number" | "hash" | "parentHash"> {
  /** Event time: the header's, in milliseconds since 1970 UTC. */
  readonly atMs: number;
  /** In the block's order. */
  readonly logs: readonly EvmLog[];
}

/** Returns a block's time in milliseconds. The seconds decide if the two contradict each other. */
export function timeOf({ timestamp, timestampMilliseconds = 0 }: Header): number {
  const isSame = Math.floor(timestampMilliseconds / 1_000) === timestamp;
  return isSame ? timestampMilliseconds : timestamp * 1_000;
}

/** Returns the logs of receipts, with their senders. */
export function logsOf(receipts: readonly Receipt[]): EvmLog[] {
  return receipts.flatMap(({ from, transactionHash, logs }) =>
    logs.map((log) => ({ ...log, transactionHash, origin: from })),
  );
}

/**
 * Returns why the receipts cannot be the block's, as the second half of a sentence; `undefined` if
 * they can.
 */
export function contradictionOf(header: Header, receipts: readonly Receipt[]): string | undefined {
  const { transactions, hash } = header;
  if (receipts.length !== transactions.length)
    return `has ${receipts.length} receipts for ${transactions.length} transactions`;
  let last = -1;
  for (const [index, receipt] of receipts.entries()) {
    if (receipt.blockHash !== hash) return `has a receipt of block ${receipt.blockHash}`;
    if (receipt.transactionHash !== transactions[index]) return `has receipt ${index} of another transaction`;
    for (const { logIndex } of receipt.logs) {
      if (logIndex <= last) return `has log ${logIndex} after log ${last}`;
      last = logIndex;
    }
  }
  return undefined;
}
