import type { End } from "./transport/end.ts";

/*
 * Decides what a connection does next: a pure function over a table, (state, input) → state and
 * effects. The driver (connection.ts) has the clock, the randomness and the I/O.
 */

/** How events are transported. */
export type Transport = "websocket" | "sse" | "poll";

/** Why the connection is paused: the page is hidden, or the reader of the iterator is behind. */
export type Hold = "hidden" | "slow";

/** Facts that hold in every phase. */
export interface Facts {
  /** Usable transports, best first. */
  readonly ladder: readonly Transport[];
  /** Index of the current transport. */
  readonly rung: number;
  /** Consecutive ends without a stable connection in between. */
  readonly failures: number;
  /**
   * Failures of this transport since it last proved itself. An unproven one starts at 1. One more
   * switches to the next.
   */
  readonly strikes: number;
  /** Upgrade attempts since the best transport last worked. */
  readonly climbs: number;
  /** Delay before the first upgrade attempt. */
  readonly climbAfterMs: number;
}

/** State of the connection. `reason` is for people. */
export type Phase = { readonly reason: string } & (
  | { readonly name: "connecting" }
  /** Subscribed. */
  | { readonly name: "live" }
  /** Waits until the timer `due` fires. */
  | { readonly name: "waiting" }
  /** Paused while any hold remains. */
  | { readonly name: "paused"; readonly holds: readonly Hold[] }
  /** Closed permanently; with a reason if the server closed it. */
  | { readonly name: "closed" }
);

export interface ConnectionState {
  readonly facts: Facts;
  readonly phase: Phase;
}

export type Input =
  /** Subscribed. */
  | { readonly type: "answered" }
  /** A message arrived after at least {@link MIN_WAIT_MS}: the connection is stable. */
  | { readonly type: "settled" }
  /** The connection ended; `heard`: it delivered a message. */
  | { readonly type: "ended"; readonly end: End; readonly heard: boolean }
  /** This timer fired. */
  | { readonly type: "due" }
  | { readonly type: "climb" }
  /** The server asks the client to reconnect after this time. */
  | { readonly type: "goaway"; readonly ms: number }
  | { readonly type: "hold"; readonly hold: Hold }
  | { readonly type: "release"; readonly hold: Hold }
  /** The network is available again. */
  | { readonly type: "online" }
  | { readonly type: "close" };

/** What the driver does next. */
export type Effect =
  /**
   * Cancels the timers and opens a connection. One that still delivers is ended only when the new
   * one delivers, to avoid a gap.
   */
  | { readonly do: "open"; readonly transport: Transport }
  /** Cancels the timers and ends all connections. */
  | { readonly do: "shut" }
  /** Starts this timer. It fires after `leastMs` plus a random part of `spreadMs`. */
  | { readonly do: "due" | "climb"; readonly leastMs: number; readonly spreadMs: number };

interface Step {
  readonly state: ConnectionState;
  readonly effects: readonly Effect[];
}

/** Minimum wait, and the age from which a connection counts as stable. */
export const MIN_WAIT_MS = 1_000;
/**
 * Longest delay accepted from a server: above the ten minutes that a drain may take, and short
 * enough not to silence a bot forever.
 */
const MAX_ASKED_MS = 3_600_000;
const MAX_SPREAD_MS = 30_000;
/** Upgrade attempts become rarer up to 2^this times. */
const MAX_CLIMB_DOUBLINGS = 4;
/** Failures of a transport that has not proved itself. */
const UNPROVEN = 1;

/** Returns the state before the first input, which must be `online`. */
export function initialState(ladder: readonly Transport[], climbAfterMs: number): ConnectionState {
  const facts = { ladder, rung: 0, failures: 0, climbs: 0, climbAfterMs, strikes: UNPROVEN };
  return { facts, phase: { name: "waiting", reason: "" } };
}

/** Returns the current transport. */
export function transportOf({ ladder, rung }: Facts): Transport {
  return ladder[rung] ?? "poll";
}

/** Limits a delay requested by a server; 0 if it is invalid. */
export function boundAsked(ms = 0): number {
  return ms > 0 ? Math.min(ms, MAX_ASKED_MS) : 0;
}

/** Processes an input. Every phase accepts every input; late ones change nothing. */
export function step({ facts, phase }: ConnectionState, input: Input): Step {
  // Row and cell match phase and input, which types cannot express across two unions.
  const cell = TABLE[phase.name][input.type] as Cell<Phase["name"], Input["type"]> | undefined;
  return (cell ?? stay)(facts, phase, input);
}

type Cell<P extends Phase["name"], I extends Input["type"]> = (
  facts: Facts,
  phase: Extract<Phase, { name: P }>,
  input: Extract<Input, { type: I }>,
) => Step;

/** The inputs that each phase handles. Others are late or out of place. */
type Table = { readonly [P in Phase["name"]]: { readonly [I in Input["type"]]?: Cell<P, I> } };

const to = (facts: Facts, phase: Phase, ...effects: Effect[]): Step => ({ state: { facts, phase }, effects });

const stay = (facts: Facts, phase: Phase): Step => to(facts, phase);

const open = (facts: Facts): Step =>
  to(facts, { name: "connecting", reason: "" }, { do: "open", transport: transportOf(facts) });

const closeWith = (facts: Facts, reason: string): Step =>
  to(facts, { name: "closed", reason }, { do: "shut" });

const close = (facts: Facts): Step => closeWith(facts, "");

const pause = (facts: Facts, holds: readonly Hold[]): Step =>
  to(facts, { name: "paused", holds, reason: holds.join() }, { do: "shut" });

const hold = (facts: Facts, _phase: Phase, input: { readonly hold: Hold }): Step =>
  pause(facts, [input.hold]);

/**
 * Backs off with full jitter, at least a second and longer each time, to spare a server in trouble.
 */
const backoff = (facts: Facts, { reason, leastMs }: Omit<End, "action">): Step =>
  to(
    { ...facts, failures: facts.failures + 1 },
    { name: "waiting", reason },
    { do: "shut" },
    {
      do: "due",
      leastMs: Math.max(MIN_WAIT_MS, boundAsked(leastMs)),
      spreadMs: Math.min(MAX_SPREAD_MS, 1_000 * 2 ** facts.failures),
    },
  );

/**
 * Reconnects at once, unless the previous connection was not stable either: two such ends are no
 * progress.
 */
const resume = (facts: Facts, end: Omit<End, "action">): Step =>
  facts.failures ? backoff(facts, end) : open({ ...facts, failures: 1 });

/**
 * Counts a failure of the transport and tries the next one. A proven transport gets a second
 * chance, because the server may be at fault.
 */
function strike(facts: Facts, end: End, heard: boolean): Step {
  const struck = { ...facts, strikes: UNPROVEN };
  if (facts.strikes < UNPROVEN || !facts.ladder[1]) return (heard ? resume : backoff)(struck, end);
  const rung = (facts.rung + 1) % facts.ladder.length;
  return (rung ? open : backoff)({ ...struck, rung }, end);
}

function ended(facts: Facts, _phase: Phase, { end, heard }: Extract<Input, { type: "ended" }>): Step {
  const { action } = end;
  if (action === "stop") return closeWith(facts, end.reason);
  if (action === "silent" || (action === "cut" && !heard)) return strike(facts, end, heard);
  if (heard) return (action === "resume" ? resume : backoff)(facts, end);
  // The server is absent or asks to retry later. Start with the best transport again.
  return backoff(facts.rung ? { ...facts, rung: 0, strikes: UNPROVEN } : facts, end);
}

/**
 * Subscribed. A lesser transport is temporary; each failed upgrade lengthens the delay before the
 * next.
 */
function answered(facts: Facts): Step {
  const leastMs = facts.climbAfterMs * 2 ** Math.min(facts.climbs, MAX_CLIMB_DOUBLINGS);
  const climb = { do: "climb", leastMs, spreadMs: leastMs / 2 } as const;
  return to(facts, { name: "live", reason: "" }, ...(facts.rung ? [climb] : []));
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
      to({ ...facts, failures: 0, strikes: 0, climbs: facts.rung && facts.climbs }, phase),
    ended,
    // The delay of a goaway has passed: proceed as if the server had closed the connection now.
    due: (facts) => resume(facts, { reason: "goaway" }),
    // Start with the best transport, and with a worse one after each failure.
    climb: (facts) =>
      open({ ...facts, rung: facts.climbs % facts.rung, climbs: facts.climbs + 1, strikes: UNPROVEN }),
    goaway: (facts, phase, { ms }) => to(facts, phase, { do: "due", leastMs: boundAsked(ms), spreadMs: 0 }),
    hold,
    online: open,
    close,
  },
  waiting: { due: open, hold, online: open, close },
  paused: {
    hold: (facts, { holds }, input) => pause(facts, [...holds, input.hold]),
    release: (facts, { holds }, input) => {
      const left = holds.filter((other) => other !== input.hold);
      return left.length > 0 ? pause(facts, left) : open(facts);
    },
    close,
  },
  closed: {},
};
