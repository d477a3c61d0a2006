import { z } from "zod";

/*
 * What `tail` needs to know of a server's frames, and no more: a server of a later version may say more, or name events
 * that this one has never heard of, and is followed all the same.
 */

const Hello = z.looseObject({
  type: z.literal("hello"),
  server: z.string(),
  silence_limit_ms: z.number().min(1_000).max(3_600_000),
  source: z.looseObject({ name: z.string(), origin: z.string() }),
  freshness: z.looseObject({ state: z.string(), reason: z.string() }).optional().catch(undefined),
});
const Subscribed = z.looseObject({
  type: z.literal("subscribed"),
  cursor: z.string(),
  resumed: z.enum(["full", "reset"]),
  lost: z.looseObject({ reason: z.string(), events: z.number().nullable() }).optional(),
  snapshot: z.record(z.string(), z.unknown()).optional(),
});
const Event = z.looseObject({
  type: z.literal("event"),
  cursor: z.string(),
  seq: z.number(),
  prev: z.number(),
  name: z.string(),
  channel: z.string(),
  observed_at: z.string(),
  data: z.record(z.string(), z.unknown()),
});
const Heartbeat = z.looseObject({ type: z.literal("heartbeat"), cursor: z.string() });
const Refusal = z.looseObject({ type: z.literal("error"), code: z.string(), message: z.string() });

/** The first frame of a connection. */
export type HelloFrame = z.infer<typeof Hello>;
/** The answer to the subscription. */
export type SubscribedFrame = z.infer<typeof Subscribed>;
/** Something happened. */
export type EventFrame = z.infer<typeof Event>;
/** A frame that means something to `tail`. */
export type Frame =
  | HelloFrame
  | SubscribedFrame
  | EventFrame
  | z.infer<typeof Heartbeat>
  | z.infer<typeof Refusal>;

const Known = z.discriminatedUnion("type", [Hello, Subscribed, Event, Heartbeat, Refusal]);

/** Reads a frame; `undefined` for what is no JSON, of another type, or not of its type's form. */
export function readFrame(text: string): Frame | undefined {
  try {
    return Known.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
