import type { ConnectOptions, connect, Platform, Stream, Transport } from "../../../src/clients/sdk/index.ts";
import { Waiters } from "../../support/time/waiters.ts";
import { createRandom } from "../../tools/evaluate/random.ts";

/*
 * Starts many streams of the SDK and records what they emit. This runs in Node and, bundled, in a
 * page. So it imports nothing of Node, and its inputs and results are JSON.
 */

/** The URL and options of one stream. */
export interface Member {
  readonly url: string;
  readonly options: Omit<ConnectOptions, "platform" | "signal">;
}

/** What a stream has emitted. */
export interface Report {
  readonly asked: Transport | "auto";
  /** Seq of the first reset. */
  readonly first: number;
  /** Seq of the last event or reset. */
  readonly last: number;
  /** Repeated events, events after a gap, such as `9 after 7`, and errors. */
  readonly wrong: readonly string[];
  /** Reasons of the resets. */
  readonly resets: readonly string[];
  /** The transport of each live connection. */
  readonly lives: readonly Transport[];
}

/** Streams that follow all channels, in any environment. */
export interface StreamGroup {
  /** Resolves once each stream has reached this seq. */
  reach(seq: number): Promise<void>;
  /** Records the view of each stream after every event, from now until {@link viewsAt}. */
  note(): Promise<void>;
  /** Returns the views at this seq once all streams have reached it, and stops recording them. */
  viewsAt(seq: number): Promise<readonly unknown[]>;
  report(): Promise<readonly Report[]>;
  close(): Promise<void>;
}

/** Returns a clock and timers that run faster by this factor. */
export function hasten(haste: number): Pick<Platform, "now" | "after"> {
  return {
    now: () => performance.now() * haste,
    after: (ms, fn) => {
      const timer = setTimeout(fn, ms / haste);
      return () => clearTimeout(timer);
    },
  };
}

/**
 * Starts the streams, with time that runs faster by `haste` and with seeded random numbers. `open`
 * is the SDK's {@link connect}.
 */
export function startGroup(
  open: typeof connect,
  members: readonly Member[],
  haste: number,
  seed: number,
): StreamGroup {
  const recorders = members.map(({ url, options }, at) => {
    const chance = createRandom(seed * 1_000 + at);
    const random = () => chance.between(0, 1);
    const stream = open(url, { ...options, platform: { ...hasten(haste), random } });
    return new Recorder(stream, options.transport ?? "auto");
  });
  return {
    reach: async (seq) => {
      await Promise.all(recorders.map((one) => one.reach(seq)));
    },
    note: async () => {
      for (const one of recorders) one.views = new Map([[one.last, one.stream.view]]);
    },
    viewsAt: async (seq) => {
      await Promise.all(recorders.map((one) => one.reach(seq)));
      return recorders.map((one) => {
        const view = one.views?.get(seq);
        one.views = undefined;
        return view;
      });
    },
    report: async () =>
      recorders.map(({ asked, first, last, wrong, resets, lives }) => ({
        asked,
        first,
        last,
        wrong: [...wrong],
        resets: [...resets],
        lives: [...lives],
      })),
    close: async () => {
      for (const { stream } of recorders) stream.close();
    },
  };
}

/** Records what its stream emits. */
class Recorder {
  readonly stream: Stream;
  readonly asked: Transport | "auto";
  first = Number.NaN;
  last = Number.NaN;
  readonly wrong: string[] = [];
  readonly resets: string[] = [];
  readonly lives: Transport[] = [];
  views: Map<number, unknown> | undefined;
  readonly #waiters = new Waiters(() => ({ last: this.last, connection: this.stream.connection }));

  constructor(stream: Stream, asked: Transport | "auto") {
    this.stream = stream;
    this.asked = asked;
    stream.on("reset", ({ reason, cursor }) => {
      this.resets.push(reason);
      this.#moved(Number(cursor.split("-")[1]));
      if (this.resets.length === 1) this.first = this.last;
    });
    stream.on("event", ({ seq }) => {
      if (seq !== this.last + 1) this.wrong.push(`${seq} after ${this.last}`);
      this.#moved(seq);
    });
    stream.on("connection", ({ state, transport }) => {
      if (state === "live") this.lives.push(transport);
    });
    stream.on("error", ({ message }) => this.wrong.push(message));
  }

  reach(seq: number): Promise<void> {
    return this.#waiters.until(() => this.last >= seq, `event ${seq}`);
  }

  #moved(seq: number): void {
    this.last = seq;
    this.views?.set(seq, this.stream.view);
    this.#waiters.look();
  }
}
