import {
  boundAsked,
  type Input,
  initialState,
  MIN_WAIT_MS,
  step,
  type Transport,
  transportOf,
} from "./connection-state.ts";
import type { StreamPlan } from "./options.ts";
import { type End, ended } from "./transport/end.ts";
import { type LineMessage, openLine, type TransportConnection } from "./transport/transport.ts";

/** How the connection stands. */
export interface ConnectionStatus {
  /** `connecting`: no answer yet; `live`: events come; `waiting`: until the next attempt; `paused`: nobody looks, or the reader is behind; `closed`: for good. */
  readonly state: "connecting" | "live" | "waiting" | "paused" | "closed";
  /** The one in use, or to be tried next. */
  readonly transport: Transport;
  /** Why it is waiting, paused (`hidden`, `slow`) or closed by the server, for people; empty otherwise. */
  readonly reason: string;
}

/** What a connection is for. */
export interface ConnectionUse {
  /** The cursor to go on from; `undefined`: from the head. */
  readonly cursor: () => string | undefined;
  /** Takes in what the server says. Throws an End when the line is no good any more. */
  readonly take: (message: LineMessage) => void;
  /** The status changed. */
  readonly changed: () => void;
}

/** Does what the state machine says: lines, timers, nothing of its own. */
export interface Connection {
  readonly status: () => ConnectionStatus;
  /** Takes an input in; those that its effects bring about follow when they are done. The first is `online`. */
  readonly input: (input: Input) => void;
}

/** Silence that is borne until the server says how much there may be. */
const SILENCE_MS = 35_000;

/** Nothing happens until the first input. */
export function createConnection(plan: StreamPlan, use: ConnectionUse): Connection {
  const { after, random } = plan.platform;
  const timers: Record<string, () => void> = {};
  const inputs: Input[] = [];
  let state = initialState(plan.ladder, plan.climbAfterMs);

  const input = (given: Input) => {
    if (inputs.push(given) > 1) return;
    for (let next = inputs[0]; next; next = inputs[0]) {
      const before = state;
      const { state: then, effects } = step(before, next);
      state = then;
      for (const effect of effects) {
        if (effect.do === "open" || effect.do === "shut") {
          for (const cancel of Object.values(timers)) cancel();
          if (effect.do === "open") strands.open(effect.transport);
          else strands.shut();
        } else {
          const ms = effect.leastMs + random() * effect.spreadMs;
          timers[effect.do]?.();
          timers[effect.do] = after(ms, () => input({ type: effect.do }));
        }
      }
      // Each attempt is a phase of its own.
      if (then.phase !== before.phase) use.changed();
      inputs.shift();
    }
  };

  const strands = createStrands(plan, use, input);
  const status = () => {
    const { facts, phase } = state;
    return {
      state: phase.name,
      transport: transportOf(facts),
      reason: phase.reason,
    };
  };
  return { status, input };
}

/** A line with what belongs to it. */
interface Attempt {
  line?: TransportConnection;
  heard: boolean;
  answered?: boolean;
  readonly openedAtMs: number;
  /** Takes the timer back that waits for the next message. */
  calm?: () => void;
}

/** The line in use, and the one before it for as long as that one is the only one that brings anything. */
function createStrands(plan: StreamPlan, use: ConnectionUse, input: Connection["input"]) {
  const { after, now, random } = plan.platform;
  const clientId = `sdk${random()}`;
  let silenceMs = SILENCE_MS;
  let current: Attempt | undefined;
  let previous: Attempt | undefined;

  const drop = (strand: Attempt | undefined) => {
    strand?.calm?.();
    strand?.line?.abort();
    if (strand === current) current = undefined;
    else previous = undefined;
  };

  const end = (strand: Attempt, reason: End) => {
    const isCurrent = strand === current;
    drop(strand);
    if (isCurrent) input({ type: "ended", end: reason, heard: strand.heard });
  };

  const listen = (strand: Attempt, ms: number) => {
    strand.calm?.();
    strand.calm = after(ms, () => end(strand, ended("silent", `nothing for ${ms} ms`)));
  };

  const receive = (strand: Attempt, message: LineMessage) => {
    const { type } = message;
    if (type === "hello") {
      silenceMs = boundAsked(message.silence_limit_ms) || SILENCE_MS;
    }
    strand.answered ||= type === "subscribed";
    // Who does not answer is as good as silent, however much it says.
    if (strand.answered || !strand.heard) listen(strand, silenceMs);
    strand.heard = true;
    if (strand === current) drop(previous);
    use.take(message);
    if (strand !== current) return;
    if (type === "goaway") input({ type, ms: message.reconnect_after_ms });
    else if (type === "subscribed") input({ type: "answered" });
    else if (now() - strand.openedAtMs >= MIN_WAIT_MS) input({ type: "settled" });
  };

  const open = (transport: Transport) => {
    if (current?.heard) {
      drop(previous);
      previous = current;
    } else drop(current);
    const strand: Attempt = { heard: false, openedAtMs: now() };
    current = strand;
    silenceMs = SILENCE_MS;
    listen(strand, plan.firstMessageMs);
    // An id of its own for each transport: one that is only tried is not to throw another out.
    strand.line = openLine(plan, transport, use.cursor(), `${clientId}.${transport}`, {
      onMessage: (message) => receive(strand, message),
      onEnd: (reason) => end(strand, reason),
    });
  };

  const shut = () => {
    drop(current);
    drop(previous);
  };
  return { open, shut };
}
