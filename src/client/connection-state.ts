import type { End } from "./transport/end.ts";

/*
 * What a connection does next, as a pure function over a table: (state, input) → state and effects. No clock, no chance, no
 * I/O; the driver (connection.ts) has those.
 */

/** By what the events come. */
export type Transport = "websocket" | "sse" | "poll";

/** Why no connection is wanted for now: the page is hidden, or the reader of the iterator is behind. */
export type Hold = "hidden" | "slow";

/** What is true whatever the phase. */
export interface Facts {
  /** The transports that may be used, the best first. */
  readonly ladder: readonly Transport[];
  /** Place on the ladder. */
  readonly rung: number;
  /** Ends in a row without a line in between that lasts. */
  readonly failures: number;
  /** Mute or silent lines on this rung since it proved itself; one that has not begins with 1. With one more the next is tried. */
  readonly strikes: number;
  /** Turns to a better transport since the best one worked. */
  readonly climbs: number;
  /** Time on a lower rung until the first of them. */
  readonly climbAfterMs: number;
}

/** Where the connection is. `reason` is for people. */
export type Phase = { readonly reason: string } & (
  | { readonly name: "connecting" }
  /** The subscription stands. */
  | { readonly name: "live" }
  /** Until the timer `due` fires. */
  | { readonly name: "waiting" }
  /** While anything holds it. */
  | { readonly name: "paused"; readonly holds: readonly Hold[] }
  /** For good; with a reason, because the server says so. */
  | { readonly name: "closed" }
);

export interface ConnectionState {
  readonly facts: Facts;
  readonly phase: Phase;
}

/** What happened. */
export type Input =
  /** The subscription stands. */
  | { readonly type: "answered" }
  /** A message on a line that has lasted for {@link MIN_WAIT_MS}: it carries. */
  | { readonly type: "settled" }
  /** The line is over; `heard`: it brought a message. */
  | { readonly type: "ended"; readonly end: End; readonly heard: boolean }
  /** The timer of this name fired. */
  | { readonly type: "due" }
  | { readonly type: "climb" }
  /** The server asks to come again after this time. */
  | { readonly type: "goaway"; readonly ms: number }
  | { readonly type: "hold"; readonly hold: Hold }
  | { readonly type: "release"; readonly hold: Hold }
  /** The network is there again. */
  | { readonly type: "online" }
  | { readonly type: "close" };

/** What the driver is to do. */
export type Effect =
  /** Take the timers back and open a line. One that still brings messages is ended only when the new one does, so that nothing is late. */
  | { readonly do: "open"; readonly transport: Transport }
  /** Take the timers back and end every line. */
  | { readonly do: "shut" }
  /** The timer of this name: fires after `leastMs` and a random part of `spreadMs`. */
  | { readonly do: "due" | "climb"; readonly leastMs: number; readonly spreadMs: number };

export interface Step {
  readonly state: ConnectionState;
  readonly effects: readonly Effect[];
}

/** The least wait, and the age from which a line counts as one that lasts. */
export const MIN_WAIT_MS = 1_000;
/** Of what a server asks for no more is believed: above the ten minutes that a drain may take, and below what mutes a bot for good. */
const MAX_ASKED_MS = 3_600_000;
const MAX_SPREAD_MS = 30_000;
/** Turns to a better transport become rarer up to 2^this times. */
const MAX_CLIMB_DOUBLINGS = 4;
/** Of a transport of which nothing is known yet. */
const UNPROVEN = 1;

/** Before anything happened: the first input is `online`. */
export function initialState(ladder: readonly Transport[], climbAfterMs: number): ConnectionState {
  const facts = { ladder, rung: 0, failures: 0, climbs: 0, climbAfterMs, strikes: UNPROVEN };
  return { facts, phase: { name: "waiting", reason: "" } };
}

/** The transport of the rung. */
export function transportOf({ ladder, rung }: Facts): Transport {
  return ladder[rung] ?? "poll";
}

/** A time that a server asks for, within bounds; 0 for what is none. */
export function boundAsked(ms = 0): number {
  return ms > 0 ? Math.min(ms, MAX_ASKED_MS) : 0;
}

/** What follows from `input`. Total: every input has an answer in every phase, and what comes too late changes nothing. */
export function step({ facts, phase }: ConnectionState, input: Input): Step {
  // The table's row is that of the phase and its cell that of the input, which no type can follow through two unions.
  const cell = TABLE[phase.name][input.type] as Cell<Phase["name"], Input["type"]> | undefined;
  return (cell ?? stay)(facts, phase, input);
}

type Cell<P extends Phase["name"], I extends Input["type"]> = (
  facts: Facts,
  phase: Extract<Phase, { name: P }>,
  input: Extract<Input, { type: I }>,
) => Step;

/** What is heard in each phase; everything else comes too late, or out of place. */
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

/** Full jitter, at least a second, longer each time: a server that is in trouble is not to be stormed. */
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

/** At once, but not twice in a row without a line in between that lasts: two such ends are no progress. */
const resume = (facts: Facts, end: Omit<End, "action">): Step =>
  facts.failures ? backoff(facts, end) : open({ ...facts, failures: 1 });

/** The transport brought nothing: another one may. What is proven gets a second chance, for it may as well have been the server. */
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
  // Nobody is there, or the server itself says later: then the best transport has the first chance again.
  return backoff(facts.rung ? { ...facts, rung: 0, strikes: UNPROVEN } : facts, end);
}

/** The subscription stands. A lesser transport is for a while only; longer each time that it turns out to be needed. */
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
    // The slot of a goaway: as if the server had closed now.
    due: (facts) => resume(facts, { reason: "goaway" }),
    // From the best one down, each time it fails the one below.
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
