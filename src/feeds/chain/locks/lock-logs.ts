import * as AbiEvent from "ox/AbiEvent";
import { SECOND_MS } from "../../../base/lib/time/time.ts";
import { countWords, type EvmLog, readUint } from "../pools/evm-log.ts";

/*
 * The events in which lockers state the terms of their locks. Withdrawals need none, because the
 * transfer of the LP tokens says it.
 */

/** A locker reports a lock: a new one, or the new amount and term of lock `id`. */
export interface LockSet {
  readonly kind: "set";
  /** The pair, whose LP token is locked. */
  readonly pair: string;
  readonly id: bigint | null;
  readonly units: bigint;
  readonly untilMs: number;
}

interface LockExtended {
  readonly kind: "extended";
  readonly id: bigint;
  readonly untilMs: number;
}

export interface LockSplit {
  readonly kind: "split";
  readonly id: bigint;
  readonly left: bigint;
  readonly newId: bigint;
  readonly units: bigint;
}

export type LockLog = LockSet | LockExtended | LockSplit;

interface LockEvent {
  readonly signature: string;
  /** Number of indexed fields. */
  readonly indexed: number;
  /** Reads the fields, the indexed ones first. */
  readonly read: (fields: readonly bigint[]) => LockLog;
}

const EVENTS: readonly LockEvent[] = [
  // UNCX, older and newer. Its locks have no id in the older one.
  {
    signature: "onDeposit(address,address,uint256,uint256,uint256)",
    indexed: 0,
    read: ([pair, , units, , until]) => lockSet(pair, null, units, until),
  },
  {
    signature: "onNewLock(uint256,address,address,uint256,uint256,uint256,uint16)",
    indexed: 0,
    read: ([id, pair, , units, , until]) => lockSet(pair, id, units, until),
  },
  // PinkLock. Of a lock with several releases, the first.
  idFirst("LockAdded(uint256,address,address,uint256,uint256)"),
  idFirst("LockUpdated(uint256,address,address,uint256,uint256)"),
  // GoPlus.
  idFirst("OnLock(uint256,address,address,uint256,uint256)"),
  idFirst("OnUpdated(uint256,address,address,uint256,uint256)"),
  ...extended("OnRelock(uint256,uint256)"),
  // Team Finance. The pair and the owner are indexed.
  {
    signature: "Deposit(uint256,address,address,uint256,uint256)",
    indexed: 2,
    read: ([pair, , id, units, until]) => lockSet(pair, id, units, until),
  },
  ...extended("LockDurationExtended(uint256,uint256)"),
  {
    signature: "LockSplit(uint256,uint256,uint256,uint256)",
    indexed: 0,
    read: ([id = 0n, left = 0n, newId = 0n, units = 0n]) => ({ kind: "split", id, left, newId, units }),
  },
];

const READERS: ReadonlyMap<string, LockEvent> = new Map(
  EVENTS.map((event) => [`${AbiEvent.getSelector(event.signature)} ${event.indexed}`, event]),
);

/** Decodes a locker's log; `undefined` for logs that state no term. */
export function decodeLock({ topics: [topic = "", ...indexed], data }: EvmLog): LockLog | undefined {
  const event = READERS.get(`${topic} ${indexed.length}`);
  const words = countWords(data);
  if (!event || indexed.length + words !== event.signature.split(",").length) return undefined;
  const fields = [...indexed.map((one) => readUint(one, 0))];
  for (let index = 0; index < words; index++) fields.push(readUint(data, index));
  return event.read(fields);
}

function idFirst(signature: string): LockEvent {
  return { signature, indexed: 1, read: ([id, pair, , units, until]) => lockSet(pair, id, units, until) };
}

/** The id may be indexed or not, which does not change the topic. */
function extended(signature: string): readonly LockEvent[] {
  const read = ([id = 0n, until]: readonly bigint[]): LockLog => ({
    kind: "extended",
    id,
    untilMs: toMs(until),
  });
  return [0, 1].map((indexed) => ({ signature, indexed, read }));
}

function lockSet(pair = 0n, id: bigint | null = null, units = 0n, until?: bigint): LockLog {
  const address = `0x${pair.toString(16).padStart(40, "0")}`;
  return { kind: "set", pair: address, id, units, untilMs: toMs(until) };
}

/** Converts a time in seconds. One that means forever becomes infinite. */
function toMs(seconds = 0n): number {
  return Number(seconds) * SECOND_MS;
}
