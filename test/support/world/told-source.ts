import type { Freshness } from "../../../src/base/protocol/index.ts";
import type { Poll, SnapshotSource } from "../../../src/gateway/source/index.ts";

/** A source that is always live and returns the given polls in order. */
export abstract class ToldSource implements SnapshotSource {
  abstract readonly info: SnapshotSource["info"];
  readonly #polls: Poll[] = [];
  #wake: () => void = () => {};
  #hasFailed = false;

  /** Adds the result of the next poll. */
  protected tell(poll: Poll): void {
    this.#polls.push(poll);
    this.#wake();
  }

  /** Ends the source, as after a permanent fault. */
  fail(): void {
    this.#hasFailed = true;
    this.#wake();
  }

  async poll(signal: AbortSignal): Promise<Poll | undefined> {
    for (;;) {
      signal.throwIfAborted();
      if (this.#hasFailed) return undefined;
      const poll = this.#polls.shift();
      if (poll) return poll;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
    }
  }

  freshness(): Freshness {
    const now = new Date().toISOString();
    const health = this.#hasFailed
      ? ({ state: "down", reason: "fail() was called" } as const)
      : ({ state: "live", reason: "" } as const);
    return { ...health, observed_at: now, last_success_at: now, data_age_ms: 0 };
  }
}
