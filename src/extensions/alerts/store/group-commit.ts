import type { Alert } from "../alert.ts";
import type { AlertStore, RulePosition } from "./alert-store.ts";

/** Maximum writes per transaction. A transaction blocks the event loop. */
const MAX_BATCH = 200;

interface Waiting {
  readonly write: () => void;
  readonly done: () => void;
  readonly fail: (error: unknown) => void;
}

/**
 * Combines writes into few transactions, because each waits for the disk. If one write fails, so do
 * all others in its transaction.
 */
export class GroupCommit {
  readonly #store: AlertStore;
  #waiting: Waiting[] = [];
  #isDue = false;

  constructor(store: AlertStore) {
    this.#store = store;
  }

  /** Like {@link AlertStore.commit}. Resolves once it is stored; rejects on failure. */
  commit(rule: string, position: RulePosition, alerts: readonly Alert[]): Promise<void> {
    return this.#enqueue(() => this.#store.commit(rule, position, alerts));
  }

  /** Like {@link AlertStore.remove}. Resolves once it is stored; rejects on failure. */
  remove(alert: Alert): Promise<void> {
    return this.#enqueue(() => this.#store.remove(alert));
  }

  #enqueue(write: () => void): Promise<void> {
    return new Promise((done, fail) => {
      this.#waiting.push({ write, done, fail });
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#isDue || this.#waiting.length === 0) return;
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      this.#write(this.#waiting.splice(0, MAX_BATCH));
      this.#schedule();
    });
  }

  #write(batch: readonly Waiting[]): void {
    try {
      this.#store.together(() => {
        for (const { write } of batch) write();
      });
      for (const { done } of batch) done();
    } catch (error) {
      for (const { fail } of batch) fail(error);
    }
  }
}
