import type { EventBody } from "../../../src/protocol/index.ts";

const observed_at = "2026-11-21T08:00:00.000Z";
const LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789";

/**
 * This many letters that no compressor shortens to less than two thirds, as ids and numbers are;
 * the same for the same seed.
 */
function letters(count: number, seed: number): string {
  let state = seed + 1;
  let text = "";
  while (text.length < count) {
    // Numerical Recipes' linear congruential generator; its high bits are the good ones.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    text += LETTERS[Math.floor((state / 2 ** 32) * LETTERS.length)];
  }
  return text;
}

function body(reason: string): EventBody {
  return { name: "source-status", channel: "status", observed_at, data: { state: "live", reason } };
}

/** A message with this event, as the gateway sends it, up to the order of its fields. */
export function messageText(event: EventBody): string {
  const seq = 10_000;
  const { name, channel, observed_at, data } = event;
  const place = { cursor: `0123456789abcdef-${seq}`, seq, prev: seq - 1, batch: seq };
  return JSON.stringify({
    ...{ type: "event", ...place, emitted_at: observed_at },
    ...{ name, channel, observed_at, data },
  });
}

/** Events whose messages have very nearly this many bytes each, no two alike. */
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
 * What a server of a bench is asked to publish with each trigger: the same events, or the next
 * batch of a MarketFile.
 */
export type Load = UniformLoad | { readonly market: string };
