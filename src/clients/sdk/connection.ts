import { boundAsked } from "../../base/protocol/reconnect.ts";
import {
  type Input,
  initialState,
  STABLE_MS,
  step,
  type Transport,
  transportOf,
} from "./connection-state.ts";
import type { StreamPlan } from "./options.ts";
import { type End, ended } from "./transport/end.ts";
import { openTransport, type TransportMessage } from "./transport/transport.ts";

export interface ConnectionStatus {
  /**
   * When `waiting`, the next attempt will follow. A hidden page, a slow reader or an update makes
   * it `paused`. `closed` is final.
   */
  readonly state: "connecting" | "live" | "waiting" | "paused" | "closed";
  /** The current transport, or the next one to try. */
  readonly transport: Transport;
  /**
   * For people: why the last connection ended, or why it is paused (`hidden`, `slow`, `update`);
   * else empty.
   */
  readonly reason: string;
  /** The close code or HTTP status with which the last connection ended, if any. */
  readonly code?: number | undefined;
}

interface ConnectionUse {
  /** Returns the cursor to resume from; `undefined` for the head. */
  readonly cursor: () => string | undefined;
  /** Processes a message. Throws an End if the connection must end. */
  readonly receive: (message: TransportMessage) => void;
  /** Called after each change of the status. */
  readonly changed: () => void;
}

/** Maximum silence until the server states its own limit. */
const SILENCE_MS = 35_000;

/**
 * Creates a connection, which executes the decisions of the state machine. It stays idle until the
 * input `online`.
 */
export function createConnection(plan: StreamPlan, use: ConnectionUse) {
  const { after, random } = plan.platform;
  const timers: Record<string, () => void> = {};
  const inputs: Input[] = [];
  let state = initialState(plan.transports, plan.upgradeAfterMs);

  /** Processes an input, then those that its effects cause. */
  const input = (given: Input): void => {
    if (inputs.push(given) > 1) return;
    // The loop also reaches inputs that are added during it.
    for (const next of inputs) {
      const before = state.phase;
      state = step(state, next);
      for (const effect of state.effects) {
        if (effect.do === "open") {
          for (const cancel of Object.values(timers)) cancel();
          open(effect.transport);
        } else {
          const ms = effect.minMs + random() * effect.spreadMs;
          timers[effect.do]?.();
          timers[effect.do] = after(ms, () => input({ type: effect.do }));
        }
      }
      // Each attempt has a new phase object, so this also reports repeated attempts.
      if (state.phase !== before) use.changed();
    }
    inputs.length = 0;
  };

  const open = createAttempts(plan, use, input);
  const status = (): ConnectionStatus => ({ ...state.phase, transport: transportOf(state.facts) });
  return { status, input };
}

interface Attempt {
  transport?: AbortController;
  heard: boolean;
  answered?: boolean;
  readonly openedAtMs: number;
  /** Stops the timer of the silence limit. */
  stopTimer?: () => void;
}

/** Manages the current connection, and the previous one while only that one delivers. */
function createAttempts(plan: StreamPlan, use: ConnectionUse, input: (input: Input) => void) {
  const { after, now, random } = plan.platform;
  const clientId = `sdk${random()}`;
  let silenceMs = SILENCE_MS;
  let current: Attempt | undefined;
  let previous: Attempt | undefined;

  const drop = (attempt: Attempt | undefined) => {
    attempt?.stopTimer?.();
    attempt?.transport?.abort();
    if (attempt === current) current = undefined;
    else previous = undefined;
  };

  const end = (attempt: Attempt, reason: End) => {
    const isCurrent = attempt === current;
    drop(attempt);
    if (!isCurrent) return;
    const { heard, answered } = attempt;
    input({ type: "ended", end: plan.judge?.(reason, answered) ?? reason, heard });
  };

  const limitSilence = (attempt: Attempt, ms: number) => {
    attempt.stopTimer?.();
    attempt.stopTimer = after(ms, () => end(attempt, ended("silent", `silent for ${ms} ms`)));
  };

  const receive = (attempt: Attempt, message: TransportMessage) => {
    const { type } = message;
    if (type === "hello") {
      silenceMs = boundAsked(message.silence_limit_ms) || SILENCE_MS;
    }
    attempt.answered ||= type === "subscribed";
    // Until the attempt is subscribed, only its first message extends the deadline.
    if (attempt.answered || !attempt.heard) limitSilence(attempt, silenceMs);
    attempt.heard = true;
    if (attempt === current) drop(previous);
    use.receive(message);
    if (attempt !== current) return;
    if (type === "goaway") input({ type, ms: message.reconnect_after_ms });
    else if (type === "subscribed") input({ type: "answered" });
    else if (now() - attempt.openedAtMs >= STABLE_MS) input({ type: "settled" });
  };

  return (transport?: Transport) => {
    if (!transport) {
      drop(previous);
      return drop(current);
    }
    drop(current?.heard ? previous : current);
    previous ??= current;
    const attempt: Attempt = { heard: false, openedAtMs: now() };
    current = attempt;
    silenceMs = SILENCE_MS;
    limitSilence(attempt, plan.firstMessageMs);
    // Use one client id per transport, so that a trial does not replace a working connection.
    attempt.transport = openTransport(plan, transport, use.cursor(), `${clientId}.${transport}`, {
      onMessage: (message) => receive(attempt, message),
      onEnd: (reason) => end(attempt, reason),
    });
  };
}
