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

/** State of the connection. */
export interface ConnectionStatus {
  /**
   * `connecting`: no response yet; `live`: receiving events; `waiting`: until the next attempt;
   * `paused`: the page is hidden or the reader is behind; `closed`: permanently.
   */
  readonly state: "connecting" | "live" | "waiting" | "paused" | "closed";
  /** The current transport, or the next one to try. */
  readonly transport: Transport;
  /**
   * Why it is waiting, paused (`hidden`, `slow`) or closed by the server, for people; otherwise
   * empty.
   */
  readonly reason: string;
}

/** Callbacks of a connection into the stream. */
interface ConnectionUse {
  /** Returns the cursor to resume from; `undefined` for the head. */
  readonly cursor: () => string | undefined;
  /** Processes a message. Throws an End if the connection must end. */
  readonly take: (message: LineMessage) => void;
  /** Called when the status changes. */
  readonly changed: () => void;
}

/** Executes the decisions of the state machine: connections and timers. */
interface Connection {
  readonly status: () => ConnectionStatus;
  /**
   * Processes an input. Inputs caused by its effects follow afterwards. The first must be `online`.
   */
  readonly input: (input: Input) => void;
}

/** Maximum silence until the server states its own. */
const SILENCE_MS = 35_000;

/** Creates a connection. It stays idle until the first input. */
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

/** A transport connection and its state. */
interface Attempt {
  line?: TransportConnection;
  heard: boolean;
  answered?: boolean;
  readonly openedAtMs: number;
  /** Cancels the silence timer. */
  calm?: () => void;
}

/** Manages the current connection, and the previous one while only that one delivers. */
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
    // Before it subscribes, only the first message extends the deadline, however much follows.
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
    // Use one client id per transport, so that a trial does not replace a working connection.
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
