import { type EvmLog, readAddress, readUint } from "./evm-log.ts";
import { INFINITY_BIN_TOPICS } from "./forms/bins/infinity-bin.ts";
import { LIQUIDITY_BOOK_TOPICS } from "./forms/bins/liquidity-book.ts";
import { CURVE_TOPICS } from "./forms/curves.ts";
import { FORMS } from "./forms/forms.ts";
import { isShaped, type LogReader, type PoolLog } from "./forms/pool-log.ts";
import { POSITION_TOPICS } from "./forms/positions/positions.ts";
import { V3_TOPICS } from "./forms/ranges.ts";
import { V2_TOPICS } from "./forms/reserves.ts";

/*
 * Decodes the events of pools by hand. All consist of words at fixed positions. A general decoder
 * reached twenty thousand logs a second, too few beside the other work on a busy chain. A log with
 * a word out of its type's range belongs to another contract and is ignored.
 */

/** A transfer of a token between two accounts. */
export interface Transfer {
  readonly kind: "transfer";
  readonly from: string;
  readonly to: string;
  readonly units: bigint;
}

/** The signatures of the events, as declared by their contracts, with their keccak-256 topics. */
export const EVENT_TOPICS = {
  ...V2_TOPICS,
  ...V3_TOPICS,
  ...POSITION_TOPICS,
  ...LIQUIDITY_BOOK_TOPICS,
  ...INFINITY_BIN_TOPICS,
  ...CURVE_TOPICS,
} as const;

const READERS: Readonly<Record<string, LogReader>> = Object.assign(
  {},
  ...Object.values(FORMS).map(({ readers }) => readers),
);

const BY_TOPIC: ReadonlyMap<string, LogReader> = new Map(
  Object.entries(EVENT_TOPICS).flatMap(([signature, topic]) => {
    const reader = READERS[signature];
    return reader ? [[topic, reader] as const] : [];
  }),
);

/**
 * Decodes a pool's log; `undefined` for any other log, and for one that does not match its topic.
 */
export function decodeLog(log: EvmLog): PoolLog | undefined {
  const [topic] = log.topics;
  return topic === undefined ? undefined : BY_TOPIC.get(topic)?.(log);
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
