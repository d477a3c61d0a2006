import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { z } from "zod";
import { PRIVATE_FILE } from "../../base/lib/io/private-file.ts";
import type { Notify } from "../../base/lib/notify.ts";
import { messageOf } from "../../base/lib/text/message-of.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import { MINUTE_MS } from "../../base/lib/time/time.ts";

/** How often changes are stored: one small file a minute, however many requests there are. */
export const SAVE_MS = MINUTE_MS;

const Uses = z.record(z.string(), z.string());

interface KeyUsesOptions {
  /** The key file. The times are stored beside it. */
  readonly file: string;
  readonly clock: Clock;
  readonly notify: Notify;
  /** Whether a key has this id. Other ids are dropped when the file is written. */
  readonly isKnown: (id: string) => boolean;
}

/** Stores when each key was last used, in a file beside the key file. */
export class KeyUses {
  readonly #options: KeyUsesOptions;
  readonly #lastMs: Map<string, number>;
  readonly #stop: () => void;
  #isChanged = false;
  #hasFailed = false;

  constructor(options: KeyUsesOptions) {
    this.#options = options;
    const read = Object.entries(readKeyUses(options.file));
    this.#lastMs = new Map(read.map(([id, at]) => [id, Date.parse(at)]));
    this.#stop = options.clock.every(SAVE_MS, () => this.#save());
  }

  /** Records that the key is used now. */
  note(id: string): void {
    this.#lastMs.set(id, this.#options.clock.now());
    this.#isChanged = true;
  }

  /** Stores the last changes and ends the regular storing. */
  stop(): void {
    this.#stop();
    this.#save();
  }

  #save(): void {
    if (!this.#isChanged) return;
    this.#isChanged = false;
    const { file, isKnown, notify } = this.#options;
    for (const id of this.#lastMs.keys()) if (!isKnown(id)) this.#lastMs.delete(id);
    const uses = [...this.#lastMs].map(([id, atMs]) => [id, new Date(atMs).toISOString()]);
    const target = usesFileOf(file);
    try {
      writeFileSync(`${target}.new`, `${JSON.stringify(Object.fromEntries(uses))}\n`, { mode: PRIVATE_FILE });
      renameSync(`${target}.new`, target);
      this.#hasFailed = false;
    } catch (error) {
      if (!this.#hasFailed)
        notify("warn", "cannot save the last-use times of keys", { reason: messageOf(error) });
      this.#hasFailed = true;
    }
  }
}

/** Returns when keys were last used, as ISO times by id. Empty without a valid file. */
export function readKeyUses(file: string): Readonly<Record<string, string>> {
  try {
    const stored = Uses.parse(JSON.parse(readFileSync(usesFileOf(file), "utf8")));
    return Object.fromEntries(Object.entries(stored).filter(([, at]) => !Number.isNaN(Date.parse(at))));
  } catch {
    // The times are a convenience: a missing or damaged file must not stop the server.
    return {};
  }
}

function usesFileOf(file: string): string {
  return `${file}.used`;
}
