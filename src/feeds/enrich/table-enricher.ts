import { BoundedMap } from "../../base/lib/bounded-map.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import { groupedKey } from "../../base/model/token-key.ts";
import type { ServiceReport } from "../../gateway/source/index.ts";
import type { ServiceClient } from "../service/service-client.ts";
import type { Unread } from "../service/unread.ts";
import type { Enricher, EnricherName, Facts, OnFound, TokenRef } from "./enricher.ts";
import type { CachedFacts, FactCache } from "./fact-cache.ts";

/** A service that returns everything in one answer. */
export interface Table {
  readonly name: EnricherName;
  readonly url: string;
  /** Returns the facts in an answer, by {@link groupedKey}. Throws UnexpectedAnswer. */
  readonly read: (body: unknown, unread?: Unread) => ReadonlyMap<string, Facts>;
  /** Milliseconds from a valid answer to the next request. */
  readonly everyMs: number;
  /** Facts of a token that a later answer no longer lists. */
  readonly gone: Facts;
}

/** Maximum number of noted tokens, about which later answers are reported. */
const MAX_TOKENS = 50_000;

/** Queries a service for everything at intervals. Reports the facts about the market's tokens. */
export class TableEnricher implements Enricher {
  readonly name: EnricherName;
  readonly #table: Table;
  readonly #client: ServiceClient;
  readonly #clock: Clock;
  readonly #cache: FactCache;
  readonly #tokens = new BoundedMap<string, TokenRef>(MAX_TOKENS);
  #onFound: OnFound = () => {};

  constructor(table: Table, client: ServiceClient, clock: Clock, cache: FactCache) {
    this.name = table.name;
    this.#table = table;
    this.#client = client;
    this.#clock = clock;
    this.#cache = cache;
  }

  get trouble(): string | undefined {
    return this.#client.complaint;
  }

  report(): ServiceReport {
    return this.#client.report("enrich", this.name);
  }

  note(token: TokenRef): void {
    const key = groupedKey(token);
    this.#tokens.set(key, token);
    const entry = this.#cache.get(key);
    if (entry) this.#onFound(token, entry.facts);
  }

  async run(onFound: OnFound, signal: AbortSignal): Promise<void> {
    this.#onFound = onFound;
    const { url, read, everyMs } = this.#table;
    try {
      await this.#clock.sleep(this.#remainingMs(), signal);
      while (!signal.aborted) {
        const outcome = await this.#client.ask({ url, read }, signal);
        if (outcome.kind === "ok") {
          this.#take(outcome.value);
          await this.#cache.save();
        }
        // After a failure, the client may wait even longer before its next request.
        await this.#clock.sleep(outcome.kind === "ok" ? everyMs : Math.min(everyMs, 60_000), signal);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /**
   * Returns for how many milliseconds the cached answer of an earlier run is still valid; 0 without
   * one.
   */
  #remainingMs(): number {
    let newest = Number.NEGATIVE_INFINITY;
    for (const { at } of this.#cache.entries.values()) newest = Math.max(newest, at);
    return Math.min(this.#table.everyMs, Math.max(0, newest + this.#table.everyMs - this.#clock.now()));
  }

  #take(facts: ReadonlyMap<string, Facts>): void {
    const before = new Map(this.#cache.entries);
    const at = this.#clock.now();
    const entries = new Map<string, CachedFacts>();
    // Store withdrawn facts too, because a restored engine may still have the earlier ones.
    for (const key of before.keys()) entries.set(key, { at, facts: this.#table.gone });
    for (const [key, found] of facts) entries.set(key, { at, facts: found });
    this.#cache.replace(entries);
    for (const [key, token] of this.#tokens) {
      const now = entries.get(key)?.facts;
      if (now && JSON.stringify(now) !== JSON.stringify(before.get(key)?.facts)) this.#onFound(token, now);
    }
  }
}
