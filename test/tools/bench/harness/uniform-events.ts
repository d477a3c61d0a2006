import type { EventBody } from "../../../../src/base/protocol/index.ts";

const observed_at = "2026-11-21T08:00:00.000Z";
const LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789";

/**
 * Returns letters that no compressor reduces below two thirds, like ids and numbers. Equal seeds
 * return equal letters.
 */
function letters(count: number, seed: number): string {
  let state = seed + 1;
  let text = "";
  while (text.length < count) {
    // Numerical Recipes' linear congruential generator. Only its high bits are random enough.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    text += LETTERS[Math.floor((state / 2 ** 32) * LETTERS.length)];
  }
  return text;
}

function body(reason: string): EventBody {
  return { name: "source-status", channel: "status", observed_at, data: { state: "live", reason } };
}

/** Returns a message with this event as the gateway sends it, up to the order of fields. */
export function messageText(event: EventBody): string {
  const seq = 10_000;
  const { name, channel, observed_at, data } = event;
  const place = { cursor: `0123456789abcdef-${seq}`, seq, prev: seq - 1, batch: seq };
  return JSON.stringify({
    ...{ type: "event", ...place, emitted_at: observed_at },
    ...{ name, channel, observed_at, data },
  });
}

/** Returns different events whose messages have almost exactly this many bytes. */
export function uniformEvents(count: number, bytes: number): EventBody[] {
  const room = bytes - messageText(body("")).length;
  return Array.from({ length: count }, (_, at) => body(letters(room, at)));
}

/** This many events, each in a message of this many bytes. */
export interface UniformLoad {
  readonly events: number;
  readonly bytes: number;
}

/**
 * The load that a bench server publishes per trigger: the same events, or the next batch of a
 * MarketFile.
 */
export type Load = UniformLoad | { readonly market: string };
