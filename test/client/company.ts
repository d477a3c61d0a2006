import type { ConnectOptions, connect, Platform, Stream, Transport } from "../../src/client/index.ts";
import { createRandom } from "../evaluate/random.ts";
import { Waiters } from "../support/time/waiters.ts";

/*
 * Many streams of the SDK and what they lived through. Runs in Node and, bundled, in a page: so it
 * imports nothing of Node, and what goes in and out is JSON.
 */

/** One of the streams. */
export interface Member {
  readonly url: string;
  readonly options: Omit<ConnectOptions, "platform" | "signal">;
}

/** What a stream lived through. */
export interface Report {
  readonly asked: Transport | "auto";
  /** Seq at which it began. */
  readonly first: number;
  /** Seq of the last event that it told. */
  readonly last: number;
  /** Events that came twice or behind a hole, such as `9 behind 7`. */
  readonly wrong: readonly string[];
  /** Resets, by reason. */
  readonly resets: readonly string[];
  /** The transport, each time that it became live. */
  readonly lives: readonly Transport[];
}

/** Streams that follow all channels, wherever they run. */
export interface Company {
  /** Resolves when each has told everything up to this seq. */
  reach(seq: number): Promise<void>;
  /** Keeps from now on what each holds behind every event, for {@link viewsAt}. */
  note(): Promise<void>;
  /** What each holds at this seq, as soon as all are that far; and keeps no more. */
  viewsAt(seq: number): Promise<readonly unknown[]>;
  report(): Promise<readonly Report[]>;
  close(): Promise<void>;
}

/** Time that goes faster than the clock by this factor. */
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
 * Starts the streams, in a hurry by the factor `haste`, with chances of the seed's. `open` is the
 * SDK's {@link connect}.
 */
export function assemble(
  open: typeof connect,
  members: readonly Member[],
  haste: number,
  seed: number,
): Company {
  const witnesses = members.map(({ url, options }, at) => {
    const chance = createRandom(seed * 1_000 + at);
    const random = () => chance.between(0, 1);
    const stream = open(url, { ...options, platform: { ...hasten(haste), random } });
    return new Witness(stream, options.transport ?? "auto");
  });
  return {
    reach: async (seq) => {
      await Promise.all(witnesses.map((one) => one.reach(seq)));
    },
    note: async () => {
      for (const one of witnesses) one.views = new Map([[one.last, one.stream.view]]);
    },
    viewsAt: async (seq) => {
      await Promise.all(witnesses.map((one) => one.reach(seq)));
      return witnesses.map((one) => {
        const view = one.views?.get(seq);
        one.views = undefined;
        return view;
      });
    },
    report: async () =>
      witnesses.map(({ asked, first, last, wrong, resets, lives }) => ({
        ...{ asked, first, last },
        ...{ wrong: [...wrong], resets: [...resets], lives: [...lives] },
      })),
    close: async () => {
      for (const { stream } of witnesses) stream.close();
    },
  };
}

/** Believes nothing of its stream but what it tells. */
class Witness {
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
      if (seq !== this.last + 1) this.wrong.push(`${seq} behind ${this.last}`);
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
