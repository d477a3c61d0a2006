import * as AbiEvent from "ox/AbiEvent";
import { type EvmLog, readAddress, readUint } from "./evm-log.ts";
import { FORMS } from "./forms/forms.ts";
import { isShaped, type LogReader, type PoolLog } from "./forms/pool-log.ts";

/*
 * Decodes the events of pools by hand. Nearly all consist of words at fixed positions. A general
 * decoder reached twenty thousand logs a second, which is too slow for a busy chain. A
 * log with a word out of its type's range belongs to another contract and is ignored.
 */

/** A transfer of a token between two accounts. */
export interface Transfer {
  readonly kind: "transfer";
  readonly from: string;
  readonly to: string;
  readonly units: bigint;
}

/** Decoders of the events of pools, by topic: the hash of the event's signature. */
export const EVENT_READERS: ReadonlyMap<string, LogReader> = new Map(
  Object.values(FORMS).flatMap(({ readers }) =>
    Object.entries(readers).map(([signature, reader]) => [AbiEvent.getSelector(signature), reader]),
  ),
);

/**
 * Decodes a pool's log; `undefined` for any other log, and for one that does not match its topic.
 */
export function decodeLog(log: EvmLog): PoolLog | undefined {
  const [topic] = log.topics;
  return topic === undefined ? undefined : EVENT_READERS.get(topic)?.(log);
}

/** "Transfer(address,address,uint256)" of ERC-20. */
export const TRANSFER_TOPIC = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";

/**
 * Decodes a token transfer; `undefined` for other logs, and for ERC-721, which has the same topic.
 */
export function decodeTransfer(log: EvmLog): Transfer | undefined {
  if (log.topics[0] !== TRANSFER_TOPIC || !isShaped(log, 3, 1)) return undefined;
  const from = readAddress(log.topics[1] ?? "", 0);
  const to = readAddress(log.topics[2] ?? "", 0);
  if (from === undefined || to === undefined) return undefined;
  return { kind: "transfer", from, to, units: readUint(log.data, 0) };
}
