import { Worker } from "node:worker_threads";
import { StampedCache } from "../../../lib/stamped-cache.ts";
import { FlarewireError } from "../../../protocol/index.ts";
import type { ShareFacts } from "./share-picture.ts";

interface PictureLimits {
  /** Maximum memory of cached pictures. Default 8 MiB. */
  readonly maxBytes: number;
  /** Maximum pictures that are drawn or wait. Default 8; one more is `over-capacity`. */
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
 * Draws pictures in a thread, one after the other, so that streams do not wait for them. The thread
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

  /** Memory of the pictures that are cached. */
  get bytes(): number {
    return this.#drawn.bytes;
  }

  /** Returns the PNG of these facts, by their version. Throws `over-capacity` if too many wait. */
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
      const message = `${maxWaiting} pictures are being drawn already`;
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
    let failure: unknown = new FlarewireError("not-ready", "the server ended the drawing of the picture");
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

  /** Fails the picture that was being drawn, or all when closed. A new thread draws the others. */
  #fail(error: unknown): void {
    for (const { reject } of this.#jobs.splice(0, this.#isClosed ? this.#jobs.length : 1)) reject(error);
    this.#drawNext();
  }
}
