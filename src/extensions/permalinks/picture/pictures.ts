import { Worker } from "node:worker_threads";
import { StampedCache } from "../../../base/lib/stamped-cache.ts";
import { FlarewireError } from "../../../base/protocol/index.ts";
import type { ShareFacts } from "./share-picture.ts";

interface PictureLimits {
  /** Maximum bytes of cached pictures. Default: 8 MiB. */
  readonly maxBytes: number;
  /** Maximum pictures being drawn or waiting; one more is `over-capacity`. Default: 8. */
  readonly maxWaiting: number;
}

interface Job {
  readonly facts: ShareFacts;
  readonly resolve: (png: Buffer) => void;
  readonly reject: (error: unknown) => void;
}

const DEFAULT_LIMITS: PictureLimits = { maxBytes: 8 * 1_048_576, maxWaiting: 8 };
/** TypeScript in `src`, JavaScript in `dist`. */
const THREAD = new URL(
  import.meta.url.endsWith(".ts") ? "./draw-thread.ts" : "./draw-thread.js",
  import.meta.url,
);

/**
 * Draws pictures in a thread, one at a time, so that streams do not wait for them. The thread
 * starts with the first picture. Requests for the same picture share it.
 */
export class Pictures {
  readonly #limits: PictureLimits;
  readonly #drawn: StampedCache<Buffer>;
  readonly #jobs: Job[] = [];
  #isClosed = false;
  #thread: Worker | undefined;

  constructor(limits: Partial<PictureLimits> = {}) {
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
    this.#drawn = new StampedCache(this.#limits.maxBytes, ({ length }) => length);
  }

  get bytes(): number {
    return this.#drawn.bytes;
  }

  /**
   * Returns the PNG of these facts. `version` identifies them in the cache. Rejects with
   * `over-capacity` if too many wait, `draining` after {@link close}, or the error that ended the
   * thread.
   */
  draw(version: string, facts: ShareFacts): Promise<Buffer> {
    // The same facts are always drawn in the same way.
    return this.#drawn.read(
      version,
      () => "",
      () => this.#enqueue(facts),
    );
  }

  async #enqueue(facts: ShareFacts): Promise<Buffer> {
    if (this.#isClosed) throw new FlarewireError("draining", "the server draws no more pictures");
    const { maxWaiting } = this.#limits;
    if (this.#jobs.length >= maxWaiting) {
      const message = `${maxWaiting} pictures are already being drawn or waiting`;
      throw new FlarewireError("over-capacity", message, { bound: `${maxWaiting} pictures at a time` });
    }
    return await new Promise((resolve, reject) => {
      this.#jobs.push({ facts, resolve, reject });
      if (this.#jobs.length === 1) this.#drawNext();
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#thread?.terminate();
  }

  #drawNext(): void {
    const [job] = this.#jobs;
    if (!job) {
      this.#thread?.unref();
      return;
    }
    this.#thread ??= this.#start();
    this.#thread.ref();
    this.#thread.postMessage(job.facts);
  }

  #start(): Worker {
    const thread = new Worker(THREAD, { resourceLimits: { maxOldGenerationSizeMb: 64 } });
    thread.on("message", (png: Uint8Array) =>
      this.#finish(Buffer.from(png.buffer, png.byteOffset, png.length)),
    );
    let failure: unknown = new FlarewireError("not-ready", "the drawing thread ended before it finished");
    thread.on("error", (error) => {
      failure = error;
    });
    thread.on("exit", () => {
      this.#thread = undefined;
      this.#fail(failure);
    });
    return thread;
  }

  #finish(png: Buffer): void {
    this.#jobs.shift()?.resolve(png);
    this.#drawNext();
  }

  /** Rejects the picture that was being drawn, or all if closed. A new thread draws the others. */
  #fail(error: unknown): void {
    for (const { reject } of this.#jobs.splice(0, this.#isClosed ? this.#jobs.length : 1)) reject(error);
    this.#drawNext();
  }
}
