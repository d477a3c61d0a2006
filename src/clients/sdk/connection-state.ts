import { boundAsked, type RetryDelay, retryDelay } from "../../base/protocol/reconnect.ts";
import type { End } from "./transport/end.ts";

/* Decides what a connection does next: (state, input) → state and effects, for connection.ts. */

/** How events are transported. */
export type Transport = "websocket" | "sse" | "poll";

/**
 * Why the connection is paused: the page is `hidden`, the iterator's reader is `slow`, or an
 * `update` is changing the selection.
 */
export type Hold = "hidden" | "slow" | "update";

/** Facts that hold in every phase. */
export interface Facts {
  /** Usable transports, best first. */
  readonly transports: readonly Transport[];
  /** Index of the current transport. */
  readonly index: number;
  /** Consecutive ends without a stable connection in between. */
  readonly failures: number;
  /** Whether the transport was stable and has not failed since. */
  readonly proven: boolean;
  /** Upgrade attempts since the best transport was last stable. */
  readonly upgrades: number;
  /** Minimum delay before the first upgrade attempt. */
  readonly upgradeAfterMs: number;
}

/** Why a connection ended: a text for people, and the close code or HTTP status, if any. */
type Why = Pick<End, "reason" | "code">;

type Phase = Why &
  (
    | { readonly state: "connecting" }
    /** Subscribed. */
    | { readonly state: "live" }
    /** Waits until the timer `due` fires. */
    | { readonly state: "waiting" }
    /** Paused while any hold remains. */
    | { readonly state: "paused"; readonly holds: readonly Hold[] }
    /** Closed permanently; with a reason if the server closed it. */
    | { readonly state: "closed" }
  );

export interface ConnectionState {
  readonly facts: Facts;
  readonly phase: Phase;
  readonly effects: readonly Effect[];
}

export type Input =
  /** Subscribed. */
  | { readonly type: "answered" }
  /** A message arrived after at least {@link STABLE_MS}: the connection is stable. */
  | { readonly type: "settled" }
  /** The connection ended; `heard`: it delivered a message. */
  | { readonly type: "ended"; readonly end: End; readonly heard: boolean }
  | { readonly type: "due" }
  | { readonly type: "upgrade" }
  /** The server asks the client to reconnect after this time. */
  | { readonly type: "goaway"; readonly ms: number }
  | { readonly type: "hold"; readonly hold: Hold }
  | { readonly type: "release"; readonly hold: Hold }
  | { readonly type: "online" }
  | { readonly type: "close" };

export type Effect =
  /**
   * Cancels both timers and opens a connection. The old one ends at the new one's first message, or
   * at once if it has not delivered any. Without a transport, ends every connection and opens none.
   */
  | { readonly do: "open"; readonly transport?: Transport }
  /** Starts this timer. It fires after `minMs` plus a random part of `spreadMs`. */
  | ({ readonly do: "due" | "upgrade" } & RetryDelay);

/** Age from which a connection counts as stable. */
export const STABLE_MS = 1_000;
/** The delay before an upgrade attempt doubles at most this many times. */
const MAX_UPGRADE_DOUBLINGS = 4;

/** Returns the initial state, which waits for the input `online`. */
export function initialState(transports: readonly Transport[], upgradeAfterMs: number): ConnectionState {
  const facts = { transports, index: 0, failures: 0, upgrades: 0, upgradeAfterMs, proven: false };
  return to(facts, { state: "waiting", reason: "" });
}

export function transportOf({ transports, index }: Facts): Transport {
  return transports[index] ?? "poll";
}

/** Processes an input. Every phase accepts every input; late ones change nothing. */
export function step({ facts, phase }: ConnectionState, input: Input): ConnectionState {
  // Row and cell match phase and input, which types cannot express across two unions.
  const cell = TABLE[phase.state][input.type] as Cell<Phase["state"], Input["type"]> | undefined;
  return cell?.(facts, phase, input) ?? to(facts, phase);
}

type Cell<P extends Phase["state"], I extends Input["type"]> = (
  facts: Facts,
  phase: Extract<Phase, { state: P }>,
  input: Extract<Input, { type: I }>,
) => ConnectionState;

/** The inputs that each phase handles. Others are late or out of place. */
type Table = { readonly [P in Phase["state"]]: { readonly [I in Input["type"]]?: Cell<P, I> } };

const NO_REASON: Why = { reason: "" };

const to = (facts: Facts, phase: Phase, ...effects: Effect[]): ConnectionState => ({ facts, phase, effects });

const open = (facts: Facts, { reason, code }: Why = NO_REASON): ConnectionState =>
  to(facts, { state: "connecting", reason, code }, { do: "open", transport: transportOf(facts) });

const closeWith = (facts: Facts, { reason, code }: Why): ConnectionState =>
  to(facts, { state: "closed", reason, code }, { do: "open" });

const close = (facts: Facts): ConnectionState => closeWith(facts, NO_REASON);

const pause = (facts: Facts, holds: readonly Hold[]): ConnectionState =>
  to(facts, { state: "paused", holds, reason: holds.join() }, { do: "open" });

const hold = (facts: Facts, _phase: Phase, input: { readonly hold: Hold }): ConnectionState =>
  pause(facts, [input.hold]);

/** Waits, longer after each failure, to spare a server in trouble. */
const backoff = (facts: Facts, { reason, code, minMs }: Omit<End, "action">): ConnectionState =>
  to(
    { ...facts, failures: facts.failures + 1 },
    { state: "waiting", reason, code },
    { do: "open" },
    { do: "due", ...retryDelay(facts.failures, minMs) },
  );

/** Reconnects at once, unless the previous connection was not stable either. */
const resume = (facts: Facts, end: Omit<End, "action">): ConnectionState =>
  facts.failures ? backoff(facts, end) : open({ ...facts, failures: 1 }, end);

/**
 * Tries the next transport at once, or the first one after a delay. A proven transport, or the only
 * one, is tried again instead.
 */
function fallBack(facts: Facts, end: End, heard: boolean): ConnectionState {
  const failed = { ...facts, proven: false };
  if (facts.proven || !facts.transports[1]) return (heard ? resume : backoff)(failed, end);
  const index = (facts.index + 1) % facts.transports.length;
  return (index ? open : backoff)({ ...failed, index }, end);
}

function ended(
  facts: Facts,
  _phase: Phase,
  { end, heard }: Extract<Input, { type: "ended" }>,
): ConnectionState {
  const { action } = end;
  if (action === "stop") return closeWith(facts, end);
  if (action === "silent" || (action === "fallback" && !heard)) return fallBack(facts, end, heard);
  if (heard) return (action === "resume" ? resume : backoff)(facts, end);
  // The server is absent or asks to retry later. Start with the best transport again.
  return backoff(facts.index ? { ...facts, index: 0, proven: false } : facts, end);
}

/**
 * Starts the upgrade timer if a better transport exists. Its delay doubles with each attempt, up to
 * 16 times the first.
 */
function answered(facts: Facts): ConnectionState {
  const minMs = facts.upgradeAfterMs * 2 ** Math.min(facts.upgrades, MAX_UPGRADE_DOUBLINGS);
  const upgrade = { do: "upgrade", minMs, spreadMs: minMs / 2 } as const;
  return to(facts, { state: "live", reason: "" }, ...(facts.index ? [upgrade] : []));
}

const TABLE: Table = {
  connecting: {
    answered,
    ended,
    hold,
    close,
  },
  live: {
    settled: (facts, phase) =>
      to({ ...facts, failures: 0, proven: true, upgrades: facts.index && facts.upgrades }, phase),
    ended,
    // The delay of a goaway has passed: proceed as if the server had closed the connection now.
    due: (facts) => resume(facts, { reason: "the server is shutting down" }),
    // Try the better transports in turn, the best one first.
    upgrade: (facts) =>
      open({
        ...facts,
        index: facts.upgrades % facts.index,
        upgrades: facts.upgrades + 1,
        proven: false,
      }),
    goaway: (facts, phase, { ms }) => to(facts, phase, { do: "due", minMs: boundAsked(ms), spreadMs: 0 }),
    hold,
    online: open,
    close,
  },
  waiting: { due: open, hold, online: open, close },
  paused: {
    hold: (facts, { holds }, input) => pause(facts, [...holds, input.hold]),
    release: (facts, { holds }, input) => {
      const left = holds.filter((other) => other !== input.hold);
      return left[0] ? pause(facts, left) : open(facts);
    },
    close,
  },
  closed: {},
};
