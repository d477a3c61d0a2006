import type { ExitCode } from "../../lib/io/shutdown.ts";
import { EXIT } from "../../lib/io/shutdown.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { parseCursor } from "../../protocol/index.ts";
import { type ConnectionEnd, planNext } from "./reconnect-plan.ts";
import { connectOnce } from "./stream-connection.ts";
import type { EventFrame, Frame, HelloFrame, SubscribedFrame } from "./stream-frames.ts";

/** How to follow a stream. */
export interface FollowOptions {
  /** The stream's address, channels included. */
  readonly url: URL;
  /** For a server that knows keys. */
  readonly key?: string | undefined;
  /** Start behind this cursor; at the server's head by default. */
  readonly after?: string;
  readonly clock: Clock;
  /** From 0 up to 1, for the jitter of waits. */
  readonly random: () => number;
  readonly signal: AbortSignal;
  /** Each event once and in order. A promise is waited for before more is read. */
  readonly onEvent: (event: EventFrame) => Promise<void> | undefined;
  /** A subscription stands. `hello` belongs to its connection; `resume` says that it was asked to go on from a cursor. */
  readonly onSubscribed: (answer: SubscribedFrame, hello: HelloFrame | undefined, resume: boolean) => void;
  /** What a person should know: a connection lost, a refusal. */
  readonly onNotice: (message: string) => void;
}

/** Follows until the signal aborts, which is clean, or there is no use in going on. */
export async function followStream(options: FollowOptions): Promise<ExitCode> {
  const { clock, random, signal, onNotice } = options;
  const place = new Slot(options.after);
  let failures = 0;
  let connectedBefore = false;
  for (;;) {
    let subscribed = false;
    const end = await connect(options, place, () => {
      subscribed = true;
    });
    if (signal.aborted) return EXIT.clean;
    connectedBefore ||= subscribed || end.kind === "behind";
    const plan = planNext(end, { failures, connectedBefore, random });
    failures = subscribed ? 0 : failures + 1;
    if (plan.kind === "give-up") {
      onNotice(plan.message);
      return plan.exitCode;
    }
    onNotice(
      `${plan.message}; reconnecting${plan.afterMs === 0 ? "" : ` in ${(plan.afterMs / 1_000).toFixed(1)} s`}`,
    );
    try {
      await clock.sleep(plan.afterMs, signal);
    } catch {
      return EXIT.clean;
    }
  }
}

function connect(options: FollowOptions, place: Slot, onSubscribed: () => void): Promise<ConnectionEnd> {
  const url = new URL(options.url);
  const resume = place.cursor !== undefined;
  if (place.cursor !== undefined) url.searchParams.set("after", place.cursor);
  let hello: HelloFrame | undefined;
  let answered = false;
  const onFrame = (frame: Frame): Promise<void> | ConnectionEnd | undefined => {
    switch (frame.type) {
      case "hello":
        hello = frame;
        return undefined;
      case "subscribed":
        // What it has was printed already: going on there would print it again.
        if (frame.lost?.reason === "ahead" && place.cursor !== undefined)
          return { kind: "behind", cursor: frame.cursor, after: place.cursor };
        answered = true;
        onSubscribed();
        if (frame.resumed === "reset" || !resume) place.moveTo(frame.cursor);
        options.onSubscribed(frame, hello, resume);
        return undefined;
      case "heartbeat":
        // Before the answer it is the server's place, not this client's.
        if (answered) place.advanceTo(frame.cursor);
        return undefined;
      case "error":
        options.onNotice(`the server says ${frame.code}: ${frame.message}`);
        return undefined;
      case "event": {
        const verdict = place.take(frame);
        if (verdict === "hole") return { kind: "hole" };
        return verdict === "new" ? options.onEvent(frame) : undefined;
      }
    }
  };
  return connectOnce({ url, key: options.key, clock: options.clock, signal: options.signal, onFrame });
}

/** Where the follower is: the cursor to go on from, and the proof that nothing was missed or seen twice. */
class Slot {
  #cursor: string | undefined;

  constructor(after: string | undefined) {
    this.#cursor = after;
  }

  get cursor(): string | undefined {
    return this.#cursor;
  }

  moveTo(cursor: string): void {
    this.#cursor = cursor;
  }

  /** Moves on, never back. */
  advanceTo(cursor: string): void {
    const held = this.#cursor === undefined ? undefined : parseCursor(this.#cursor);
    const next = parseCursor(cursor);
    if (held && held.epoch === next?.epoch && next.seq < held.seq) return;
    this.#cursor = cursor;
  }

  take(event: EventFrame): "new" | "repeated" | "hole" {
    const held = this.#cursor === undefined ? undefined : parseCursor(this.#cursor);
    const epoch = parseCursor(event.cursor)?.epoch;
    if (held && held.epoch === epoch) {
      if (event.seq <= held.seq) return "repeated";
      if (event.prev > held.seq) return "hole";
    }
    this.#cursor = event.cursor;
    return "new";
  }
}
