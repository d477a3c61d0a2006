import {
  type Channel,
  type CommandId,
  type Cursor,
  type FlarewireError,
  formatCursor,
  formatMarks,
  type Goaway,
  type Heartbeat,
  type Hello,
  type Limits,
  type ListFilter,
  type Lists,
  type MirrorBase,
  type Pong,
  type Subscribed,
  type Unsubscribed,
} from "../../../base/protocol/index.ts";
import type { HubLimits } from "../hub-limits.ts";

/*
 * Formats the server's messages as JSON text, which omits undefined fields. For events, see
 * event-frames.ts.
 */

/** Formats the first message of every connection. */
export function helloText(
  about: Pick<Hello, "plan" | "server" | "source" | "freshness"> & {
    readonly nowMs: number;
    readonly cursor: Cursor;
    readonly heartbeatMs: number;
    readonly silenceLimitMs: number;
    readonly limits: HubLimits;
  },
): string {
  const limits: Limits = {
    inbound_bytes: about.limits.inboundBytes,
    commands_per_second: about.limits.commandsPerSecond,
    commands_burst: about.limits.commandsBurst,
    subscriptions: about.limits.subscriptions,
    first_command_within_ms: about.limits.firstCommandWithinMs,
  };
  const hello: Hello = {
    type: "hello",
    protocol: "flarewire.v1",
    server: about.server,
    server_time: timestamp(about.nowMs),
    epoch: about.cursor.epoch,
    cursor: formatCursor(about.cursor),
    heartbeat_interval_ms: about.heartbeatMs,
    silence_limit_ms: about.silenceLimitMs,
    plan: about.plan,
    limits,
    source: about.source,
    freshness: about.freshness,
  };
  return JSON.stringify(hello);
}

/**
 * Formats the response to `subscribe`, without its `snapshot`. `base`: JSON text of its last field.
 */
export function subscribedText(
  answer: Pick<Subscribed, "id" | "resumed" | "lost"> & {
    readonly channels: readonly Channel[];
    readonly filter: ListFilter | undefined;
    readonly cursor: Cursor;
  },
  base?: string,
): string {
  const message: Subscribed = {
    type: "subscribed",
    id: answer.id,
    channels: [...answer.channels],
    filter: answer.filter?.inForce,
    cursor: formatCursor(answer.cursor),
    resumed: answer.resumed,
    lost: answer.lost,
  };
  const text = JSON.stringify(message);
  return base === undefined ? text : `${text.slice(0, -1)},"base":${base}}`;
}

/** Formats the part of the state at the head that a mirror needs besides the snapshot. */
export function baseText(observedAtMs: number, positions: Record<string, number>, lists: Lists): string {
  const { candles } = lists.snapshot;
  const base: MirrorBase = {
    observed_at: timestamp(observedAtMs),
    positions,
    marks: formatMarks(lists),
    candles,
  };
  return JSON.stringify(base);
}

/** @param cursor The client has been sent everything up to here. */
export function unsubscribedText(id: CommandId, cursor: Cursor): string {
  const message: Unsubscribed = { type: "unsubscribed", id, cursor: formatCursor(cursor) };
  return JSON.stringify(message);
}

/** Formats a group's heartbeat. `positions`: channels' latest seq up to `cursor`. */
export function heartbeatText(
  about: Pick<Heartbeat, "positions" | "freshness"> & { readonly cursor: Cursor; readonly nowMs: number },
): string {
  const message: Heartbeat = {
    type: "heartbeat",
    cursor: formatCursor(about.cursor),
    server_time: timestamp(about.nowMs),
    positions: about.positions,
    freshness: about.freshness,
  };
  return JSON.stringify(message);
}

export function pongText(id: CommandId | undefined, nowMs: number): string {
  const message: Pong = { type: "pong", id, server_time: timestamp(nowMs) };
  return JSON.stringify(message);
}

/** @param reconnectAfterMs Milliseconds from now after which the client should reconnect. */
export function goawayText(reconnectAfterMs: number, windowMs: number): string {
  const message: Goaway = {
    type: "goaway",
    reason: "draining",
    reconnect_after_ms: Math.round(reconnectAfterMs),
    window_ms: Math.round(windowMs),
  };
  return JSON.stringify(message);
}

/** Formats the response to a rejected command; `id` if it was readable. */
export function errorText(id: CommandId | undefined, { code, message, field }: FlarewireError): string {
  return JSON.stringify({ type: "error", id, code, message, field });
}

function timestamp(ms: number): string {
  return new Date(ms).toISOString();
}
