import { BoundedMap } from "../../base/lib/bounded-map.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import { MINUTE_MS } from "../../base/lib/time/time.ts";
import type { MarketEvent, Profile } from "../../base/market/index.ts";
import { groupedKey } from "../../base/model/token-key.ts";
import type { Feed } from "../../gateway/source/index.ts";
import { groupTroubles } from "../service/group-troubles.ts";
import type { Enricher, Facts, TokenRef } from "./enricher.ts";

/** A token that still trades is noted again after this time, because facts expire. */
const NOTE_AGAIN_MS = 5 * MINUTE_MS;
/** Maximum number of tokens that are remembered: as noted, and with their published facts. */
const MAX_NOTED = 100_000;
/** Maximum number of findings per clock event, so that a full cache does not delay the market. */
const MAX_A_SECOND = 500;

/**
 * Returns the feed with the enrichers' findings as `profile` events, each after a `clock` that
 * follows the finding. A recording contains them at the same position, so it replays to the same
 * bytes without the services. The feed waits for enrichers only at its end, while they save their
 * caches. An enricher that fails changes only {@link Feed.trouble} and {@link Feed.services}.
 *
 * A contract's source counts as verified if one service has it, whatever the others answer.
 */
export function enrichFeed(feed: Feed, enrichers: readonly Enricher[], clock: Clock): Feed {
  const trouble = () => {
    const parts = [feed.trouble?.(), groupTroubles(enrichers)].filter((part) => part !== undefined);
    return parts.length === 0 ? undefined : parts.join("; ");
  };
  return {
    ...feed,
    trouble,
    services: () => [...(feed.services?.() ?? []), ...enrichers.map((enricher) => enricher.report())],
    facts: { ...feed.facts, profiles: true },
    events: (signal) => enriched(feed, enrichers, clock, signal),
  };
}

async function* enriched(
  feed: Feed,
  enrichers: readonly Enricher[],
  clock: Clock,
  signal: AbortSignal,
): AsyncGenerator<MarketEvent> {
  const ending = new AbortController();
  const found = new Findings();
  const notedAt = new BoundedMap<string, number>(MAX_NOTED);
  const note = (token: TokenRef) => {
    const key = groupedKey(token);
    const now = clock.monotonic();
    const before = notedAt.get(key);
    if (before !== undefined && now - before < NOTE_AGAIN_MS) return;
    notedAt.set(key, now);
    for (const enricher of enrichers) enricher.note(token);
  };
  const working = enrichers.map((enricher) =>
    enricher.run((token, facts) => found.add(token, facts), AbortSignal.any([signal, ending.signal])),
  );
  try {
    for await (const event of feed.events(signal)) {
      yield event;
      if (event.kind === "clock") yield* found.take(event.at);
      else if ("token" in event && event.group !== "exchange")
        note({ group: event.group, token: event.token });
    }
  } finally {
    ending.abort(new DOMException("the feed was closed", "AbortError"));
    await Promise.allSettled(working);
  }
}

/** Collects findings that differ from the published facts, until they are published too. */
class Findings {
  readonly #found = new Map<string, { readonly token: TokenRef; readonly facts: Facts }>();
  /** Published facts by token, so that nothing is published twice. */
  readonly #published = new BoundedMap<string, Facts>(MAX_NOTED);

  add(token: TokenRef, facts: Facts): void {
    const key = groupedKey(token);
    const before = { ...this.#published.get(key), ...this.#found.get(key)?.facts };
    const { contractSource, ...rest } = facts;
    const isDoubted = contractSource === "unverified" && before.contractSource === "verified";
    const news = contractSource === undefined || isDoubted ? rest : { ...rest, contractSource };
    const changed = Object.entries(news).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(Reflect.get(before, name)),
    );
    if (changed.length === 0) return;
    this.#found.set(key, {
      token,
      facts: { ...this.#found.get(key)?.facts, ...Object.fromEntries(changed) },
    });
  }

  *take(at: number): Generator<Profile> {
    let left = MAX_A_SECOND;
    for (const [key, { token, facts }] of this.#found) {
      if (left === 0) return;
      left -= 1;
      this.#found.delete(key);
      this.#published.set(key, { ...this.#published.get(key), ...facts });
      yield { kind: "profile", at, ...token, ...facts };
    }
  }
}
