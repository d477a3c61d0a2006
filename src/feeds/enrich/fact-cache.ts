import { readFileSync } from "node:fs";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";
import { BoundedMap } from "../../base/lib/bounded-map.ts";
import { PRIVATE_DIRECTORY, PRIVATE_FILE } from "../../base/lib/io/private-file.ts";
import { messageOf } from "../../base/lib/text/message-of.ts";
import { Profile } from "../../base/market/index.ts";
import type { Facts } from "./enricher.ts";

const { marketData, socialData, contractSource } = Profile.shape;
const StoredFacts = z.object({ marketData, socialData, contractSource });
const Stored = z.object({
  version: z.literal(1),
  entries: z.record(z.string().max(256), z.object({ at: z.number(), facts: StoredFacts })),
});

/** Facts with the time of the answer. */
export interface CachedFacts {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly facts: Facts;
}

/** Maximum number of entries. Beyond it, the one that was set longest ago is dropped. */
const MAX_ENTRIES = 100_000;

/**
 * Caches a service's answers by key in a file, so that a restart does not repeat requests. A cache
 * must never cause a failure. So a missing or invalid file is an empty cache, and {@link save}
 * reports a problem instead of throwing.
 */
export class FactCache {
  readonly #path: string | undefined;
  readonly #entries = new BoundedMap<string, CachedFacts>(MAX_ENTRIES);
  readonly #onProblem: (problem: string) => void;
  #isDirty = false;
  #hasFailed = false;

  /**
   * @param path Its file, read at once; `undefined`: memory only.
   * @param onProblem Called for a failed write, unless the one before it failed too.
   */
  constructor(path: string | undefined, onProblem: (problem: string) => void = () => {}) {
    this.#path = path;
    this.#onProblem = onProblem;
    if (path === undefined) return;
    try {
      const stored = Stored.safeParse(JSON.parse(readFileSync(path, "utf8")));
      for (const [key, { at, facts }] of Object.entries(stored.data?.entries ?? {}))
        this.#entries.set(key, { at, facts });
    } catch {
      // Start empty.
    }
  }

  get(key: string): CachedFacts | undefined {
    return this.#entries.get(key);
  }

  set(key: string, entry: CachedFacts): void {
    this.#entries.set(key, entry);
    this.#isDirty = true;
  }

  replace(entries: ReadonlyMap<string, CachedFacts>): void {
    this.#entries.clear();
    for (const [key, entry] of entries) this.set(key, entry);
    this.#isDirty = true;
  }

  get entries(): ReadonlyMap<string, CachedFacts> {
    return this.#entries;
  }

  /** Writes the file atomically if anything changed. */
  async save(): Promise<void> {
    if (!this.#isDirty || this.#path === undefined) return;
    this.#isDirty = false;
    const temporary = `${this.#path}.new`;
    try {
      await mkdir(dirname(this.#path), { recursive: true, mode: PRIVATE_DIRECTORY });
      const text = JSON.stringify({ version: 1, entries: Object.fromEntries(this.#entries) });
      await writeFile(temporary, text, { mode: PRIVATE_FILE });
      await rename(temporary, this.#path);
      this.#hasFailed = false;
    } catch (error) {
      this.#isDirty = true;
      if (!this.#hasFailed) this.#onProblem(messageOf(error));
      this.#hasFailed = true;
    }
  }
}
