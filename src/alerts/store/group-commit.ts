import type { Alert } from "../alert.ts";
import type { AlertStore, RulePlace } from "./alert-store.ts";

/** Most commits of one transaction: what it takes is also a pause of everything else. */
const MAX_TOGETHER = 200;

interface Waiting {
  readonly write: () => void;
  readonly done: () => void;
  readonly fail: (error: unknown) => void;
}

/**
 * Keeps together what many rules and senders have to keep at one moment. An event that a thousand rules tell of, a minute that is over for all of them, or messages that
 * many receivers took, cost a few transactions, each of which waits for the disk, and not a thousand.
 */
export class GroupCommit {
  readonly #store: AlertStore;
  #waiting: Waiting[] = [];
  #isDue = false;

  constructor(store: AlertStore) {
    this.#store = store;
  }

  /** As {@link AlertStore.commit}; resolves when it is kept. Rejects when it cannot be, and nothing of it is then. */
  commit(rule: string, place: RulePlace, alerts: readonly Alert[]): Promise<void> {
    return this.#keep(() => this.#store.commit(rule, place, alerts));
  }

  /** As {@link AlertStore.remove}; resolves and rejects likewise. */
  remove(alert: Alert): Promise<void> {
    return this.#keep(() => this.#store.remove(alert));
  }

  #keep(write: () => void): Promise<void> {
    return new Promise((done, fail) => {
      this.#waiting.push({ write, done, fail });
      this.#due();
    });
  }

  #due(): void {
    if (this.#isDue || this.#waiting.length === 0) return;
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      this.#write(this.#waiting.splice(0, MAX_TOGETHER));
      this.#due();
    });
  }

  #write(those: readonly Waiting[]): void {
    try {
      this.#store.together(() => {
        for (const { write } of those) write();
      });
      for (const { done } of those) done();
    } catch (error) {
      for (const { fail } of those) fail(error);
    }
  }
}
