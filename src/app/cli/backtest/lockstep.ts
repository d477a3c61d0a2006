import { systemClock } from "../../../base/lib/time/clock.ts";
import type { FeedFacts } from "../../../base/market/index.ts";
import { FlarewireError } from "../../../base/protocol/index.ts";
import { type ConnectOptions, connect, type Stream, type StreamItem } from "../../../clients/sdk/index.ts";
import type { GatedSource } from "./gated-source.ts";

type ListenedName = Parameters<Stream["on"]>[0];
type Handler = Parameters<Stream["on"]>[1];

/** Fields of filters that no item of a recording without liquidity passes. */
const LIQUIDITY_FIELDS = ["min_liquidity", "min_locked"] as const;

/** Sends a GET request to the gateway. */
export type Ask = (path: string) => Promise<Response>;

/**
 * Connects the SDK's streams with a gateway in this process. The market advances only while every
 * stream has all events and its reader waits for the next, so a slow handler misses nothing.
 */
export class Lockstep {
  /** Channels and patterns that the streams requested. */
  readonly followed = new Set<string>();
  readonly #source: GatedSource;
  readonly #ask: Ask;
  readonly #facts: FeedFacts;
  readonly #streams = new Set<Stream>();
  /** Handlers that run now. */
  #running = 0;
  #quiet: () => void = () => {};
  /** Streams that wait for the market, each with the function that resumes it. */
  readonly #waiting = new Map<Stream, () => void>();
  #failed = Promise.withResolvers<never>();

  constructor(source: GatedSource, ask: Ask, facts: FeedFacts) {
    this.#facts = facts;
    this.#source = source;
    this.#ask = ask;
    this.#failed.promise.catch(() => {});
  }

  /** Rejects with the error of a stream or of one of its listeners. */
  get failed(): Promise<never> {
    return this.#failed.promise;
  }

  connect({ channels, filter }: Pick<ConnectOptions, "channels" | "filter"> = {}): Stream {
    const needed = this.#facts.liquidity
      ? undefined
      : LIQUIDITY_FIELDS.find((field) => filter && field in filter);
    if (needed !== undefined) {
      const problem = `the bot's filter has ${needed}, but the recording has no liquidity, so nothing would pass`;
      throw new FlarewireError(
        "invalid-setting",
        `${problem}; remove the field, or use a recording with pools`,
      );
    }
    const over = new AbortController();
    // Advances with each response: the SDK takes an immediate one without events for a stale one.
    let nowMs = 0;
    const fetch = async (url: string | URL | Request) => {
      const response = await this.#fetch(stream, new URL(`${url}`), over.signal);
      nowMs += 60_000;
      return response;
    };
    const stream = connect("http://backtest", {
      ...(channels ? { channels } : {}),
      ...(filter ? { filter } : {}),
      transport: "poll",
      queueLimit: Number.POSITIVE_INFINITY,
      platform: {
        fetch,
        now: () => nowMs,
        // Nothing is late here, however long the bot takes.
        after: (ms, fn) => {
          const canceled = new AbortController();
          if (ms < 1_000) systemClock.sleep(ms, canceled.signal).then(fn, () => {});
          return () => canceled.abort();
        },
        random: () => 0.5,
      },
    });
    this.#streams.add(stream);
    stream.on("error", (error) => this.#failed.reject(error.cause ?? error));
    stream.on("connection", ({ state }) => {
      if (state !== "closed") return;
      over.abort(new Error("closed"));
      this.#streams.delete(stream);
      this.#waiting.delete(stream);
      this.#quiet();
    });
    /** The same function for the same listener, so that `off` finds it. */
    const tracked = new WeakMap<Handler, Handler>();
    const track = (listener: Handler) => {
      const own = tracked.get(listener) ?? this.#track(listener);
      tracked.set(listener, own);
      return own;
    };
    const withTracking = (method: "on" | "once" | "off") => ({
      value: (name: ListenedName, listener: Handler) => stream[method](name, track(listener)),
    });
    return Object.create(stream, {
      on: withTracking("on"),
      once: withTracking("once"),
      off: withTracking("off"),
      [Symbol.asyncIterator]: { value: () => this.#read(stream) },
    });
  }

  /**
   * Plays until the source is over, or until the bot is done and has no open stream. Resolves once
   * all streams are closed.
   */
  async play(bot: Promise<unknown>): Promise<void> {
    let isDone = false;
    const done = () => {
      isDone = true;
      this.#quiet();
    };
    bot.then(done, done);
    while (!this.#source.isOver) {
      await this.#untilIdle(() => isDone);
      if (this.#streams.size === 0) break;
      await this.#source.advance();
      for (const [stream, go] of [...this.#waiting]) {
        this.#waiting.delete(stream);
        go();
      }
    }
    this.close();
  }

  /** Closes all streams. {@link play} then ends, once the bot has. */
  close(): void {
    for (const stream of [...this.#streams]) stream.close();
  }

  /** Answers a stream's request. One for later events waits until there are some. */
  async #fetch(stream: Stream, url: URL, over: AbortSignal): Promise<Response> {
    for (const channel of url.searchParams.get("channels")?.split(",") ?? []) this.followed.add(channel);
    if (url.searchParams.has("wait")) url.searchParams.set("wait", "0");
    const after = url.searchParams.get("after");
    for (;;) {
      const response = await this.#ask(`${url.pathname}${url.search}`);
      over.throwIfAborted();
      if (after === null || response.headers.get("flarewire-cursor") !== after) return response;
      await new Promise<void>((resolve) => {
        this.#waiting.set(stream, resolve);
        this.#quiet();
      });
      over.throwIfAborted();
    }
  }

  /**
   * Resolves when every stream waits for the market and no handler runs. Without a stream, also
   * waits until the bot is done.
   */
  async #untilIdle(isDone: () => boolean): Promise<void> {
    for (;;) {
      // Responses that have arrived reach their handlers in microtasks, before this immediate runs.
      await new Promise(setImmediate);
      const { size } = this.#streams;
      if (this.#running === 0 && this.#waiting.size === size && (size > 0 || isDone())) return;
      await new Promise<void>((resolve) => {
        this.#quiet = resolve;
      });
    }
  }

  #begin(): void {
    this.#running += 1;
  }

  #end(): void {
    this.#running -= 1;
    this.#quiet();
  }

  /** Wraps a listener so that the market waits until it is done. */
  #track(listener: Handler): Handler {
    return async (value) => {
      this.#begin();
      try {
        await listener(value);
      } finally {
        this.#end();
      }
    };
  }

  async *#read(stream: Stream): AsyncGenerator<StreamItem, undefined> {
    for await (const item of stream) {
      this.#begin();
      try {
        yield item;
      } finally {
        this.#end();
      }
    }
    return undefined;
  }
}
