import type { Notify } from "../../base/lib/notify.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import { HOUR_MS } from "../../base/lib/time/time.ts";
import { untilAborted } from "../../base/lib/time/until-aborted.ts";
import { type ChainGroup, normalizeAddress } from "../../base/model/index.ts";
import { groupedKey } from "../../base/model/token-key.ts";
import type { ServiceReport } from "../../gateway/source/index.ts";
import type { ServiceClient } from "../service/service-client.ts";
import type { Unread } from "../service/unread.ts";
import type { Enricher, EnricherName, Facts, OnFound, TokenRef } from "./enricher.ts";
import type { FactCache } from "./fact-cache.ts";

/** A service that is queried for a few tokens at a time. */
export interface Lookup {
  readonly name: EnricherName;
  /** Maximum number of tokens per request, all of one chain. */
  readonly maxTokens: number;
  /** Whether the service may know tokens of the group. */
  readonly serves: (group: ChainGroup) => boolean;
  /** The request's address. It may contain a key, so it is never shown. */
  readonly url: (group: ChainGroup, tokens: readonly string[]) => string;
  /**
   * Returns the known facts by address. Addresses are normalized. Throws UnexpectedAnswer, or
   * Refusal if the service does not serve the chain.
   */
  readonly read: (
    body: unknown,
    tokens: readonly string[],
    group: ChainGroup,
    unread?: Unread,
  ) => ReadonlyMap<string, Facts>;
  /**
   * How long an answer is valid, in milliseconds. `facts` is `undefined` if the answer had none.
   */
  readonly holdsMs: (facts: Facts | undefined) => number;
  /**
   * Facts that replace a token's known facts when an answer about it alone omits it. (An answer
   * about several tokens may omit one that has facts.) Default: the known facts stay.
   */
  readonly gone?: Facts;
}

/** Maximum number of waiting tokens. Beyond it, the one that waited longest is dropped. */
const MAX_WAITING = 10_000;
const SAVE_EVERY_MS = 30_000;
/** Time until a refused chain is queried again. The key may have a better plan by then. */
const REFUSED_MS = 12 * HOUR_MS;

/**
 * Queries a service about noted tokens without valid cached facts, a few at a time, and caches the
 * answers.
 */
export class LookupEnricher implements Enricher {
  readonly name: EnricherName;
  readonly #lookup: Lookup;
  readonly #client: ServiceClient;
  readonly #clock: Clock;
  readonly #cache: FactCache;
  readonly #waiting = new Map<string, TokenRef>();
  /**
   * Keys of waiting tokens that have facts, but were omitted by an answer about several tokens.
   * Each gets a separate request.
   */
  readonly #omitted = new Set<string>();
  /**
   * Chains that the service refused, and the monotonic time at which to query it about them again.
   */
  readonly #refused = new Map<ChainGroup, { readonly reason: string; readonly untilMs: number }>();
  readonly #notify: Notify;
  #onFound: OnFound = () => {};
  #wake: () => void = () => {};

  constructor(
    lookup: Lookup,
    client: ServiceClient,
    clock: Clock,
    cache: FactCache,
    notify: Notify = () => {},
  ) {
    this.name = lookup.name;
    this.#lookup = lookup;
    this.#client = client;
    this.#clock = clock;
    this.#cache = cache;
    this.#notify = notify;
  }

  get trouble(): string | undefined {
    if (this.#client.trouble !== undefined || this.#refused.size === 0) return this.#client.complaint;
    return refusalOf([...this.#refused].map(([group, { reason }]) => [group, reason]));
  }

  report(): ServiceReport {
    return this.#client.report("enrich", this.name);
  }

  note(token: TokenRef): void {
    if (!this.#lookup.serves(token.group)) return;
    const key = groupedKey(token);
    const entry = this.#cache.get(key);
    if (entry) {
      const isKnown = Object.keys(entry.facts).length > 0;
      if (isKnown) this.#onFound(token, entry.facts);
      if (this.#clock.now() - entry.at < this.#lookup.holdsMs(isKnown ? entry.facts : undefined)) return;
    }
    if (this.#clock.monotonic() < (this.#refused.get(token.group)?.untilMs ?? 0)) return;
    if (this.#waiting.size >= MAX_WAITING && !this.#waiting.has(key)) {
      const [longest = ""] = this.#waiting.keys();
      this.#waiting.delete(longest);
      this.#omitted.delete(longest);
    }
    this.#waiting.set(key, token);
    this.#wake();
  }

  async run(onFound: OnFound, signal: AbortSignal): Promise<void> {
    this.#onFound = onFound;
    let savedAt = this.#clock.monotonic();
    try {
      while (!signal.aborted) {
        await this.#untilNoted(signal);
        await this.#askSome(signal);
        if (this.#clock.monotonic() - savedAt < SAVE_EVERY_MS) continue;
        await this.#cache.save();
        savedAt = this.#clock.monotonic();
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      await this.#cache.save();
    }
  }

  async #askSome(signal: AbortSignal): Promise<void> {
    const batch = this.#take();
    const [first] = batch;
    if (!first) return;
    const { group } = first;
    const tokens = batch.map(({ token }) => normalizeAddress(group, token));
    const { url, read } = this.#lookup;
    const request = {
      url: url(group, tokens),
      read: (body: unknown, unread: Unread) => read(body, tokens, group, unread),
      tries: 1,
    };
    const outcome = await this.#client.ask(request, signal);
    if (outcome.kind === "failed") {
      // Move them to the end of the queue: a token that makes the service fail must not hold up the
      // others.
      for (const token of batch) this.#waiting.set(groupedKey(token), token);
      return;
    }
    if (outcome.kind === "refused") {
      this.#refuse(group, outcome.reason);
      return;
    }
    this.#refused.delete(group);
    const found = outcome.kind === "ok" ? outcome.value : new Map<string, Facts>();
    for (const [index, token] of batch.entries()) {
      const key = groupedKey(token);
      const facts = found.get(tokens[index] ?? "") ?? this.#factsOfMissing(key, outcome.kind, batch.length);
      if (facts === "unknown") {
        this.#omitted.add(key);
        this.#waiting.set(key, token);
        continue;
      }
      this.#omitted.delete(key);
      this.#cache.set(key, { at: this.#clock.now(), facts });
      if (Object.keys(facts).length > 0) this.#onFound(token, facts);
    }
  }

  /**
   * Drops a refused chain's waiting tokens, and ignores its tokens for {@link REFUSED_MS}. Reports
   * the chain the first time.
   */
  #refuse(refused: ChainGroup, reason: string): void {
    if (!this.#refused.has(refused)) this.#notify("warn", `${this.name} ${refusalOf([[refused, reason]])}`);
    this.#refused.set(refused, { reason, untilMs: this.#clock.monotonic() + REFUSED_MS });
    for (const [key, { group }] of this.#waiting) {
      if (group !== refused) continue;
      this.#waiting.delete(key);
      this.#omitted.delete(key);
    }
  }

  /**
   * Returns the facts of a token omitted by an answer about `count` tokens, or `unknown` if a
   * request about it alone must decide.
   */
  #factsOfMissing(key: string, kind: "ok" | "absent", count: number): Facts | "unknown" {
    const facts = this.#cache.get(key)?.facts ?? {};
    const { gone } = this.#lookup;
    const hasFacts = ![{}, gone].some((none) => JSON.stringify(none) === JSON.stringify(facts));
    if (gone === undefined || kind === "absent" || !hasFacts) return facts;
    return count > 1 ? "unknown" : gone;
  }

  /** Takes the longest waiting tokens of one chain, or a single one that was omitted before. */
  #take(): readonly TokenRef[] {
    const batch: TokenRef[] = [];
    for (const [key, token] of this.#waiting) {
      const isAlone = this.#omitted.has(key);
      if (batch[0] && (isAlone || batch[0].group !== token.group)) continue;
      batch.push(token);
      this.#waiting.delete(key);
      if (isAlone || batch.length >= this.#lookup.maxTokens) break;
    }
    return batch;
  }

  /** Waits until a token is queued. */
  async #untilNoted(signal: AbortSignal): Promise<void> {
    if (this.#waiting.size > 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    await untilAborted(promise, signal);
  }
}

/** Formats refusals as the second half of a sentence. Joins chains that share a reason. */
export function refusalOf(refusals: readonly (readonly [ChainGroup, string])[]): string {
  const byReason = Map.groupBy(refusals, ([, reason]) => reason);
  return [...byReason]
    .map(([reason, chains]) => `refuses ${chains.map(([group]) => group).join(", ")}: ${reason}`)
    .join("; ");
}
