import { BoundedMap } from "../../lib/bounded-map.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { MINUTE_MS } from "../../lib/time/time.ts";
import type { MarketEvent, Profile } from "../../market/index.ts";
import type { Feed } from "../feed.ts";
import { type Enricher, type Facts, keyOf, type TokenRef } from "./enricher.ts";

/** Options of {@link enrichFeed}. */
interface EnrichOptions {
  readonly feed: Feed;
  readonly enrichers: readonly Enricher[];
  readonly clock: Clock;
}

/** A token that is still traded is noted again after this long: its facts may have to be looked up again. */
const NOTE_AGAIN_MS = 5 * MINUTE_MS;
/** Tokens that are remembered as noted. */
const MAX_NOTED = 100_000;
/** Findings between two clocks, at most: a start with a full cache must not hold the market up. */
const MAX_A_SECOND = 500;

/**
 * The same feed with what the enrichers find out in it: as `profile` events behind the `clock` that was told last when they were found. A recording of
 * it has them there, too, so that it replays to the same bytes without any of the services. The feed never waits for an enricher, and one that is down
 * changes nothing but {@link Feed.trouble}.
 *
 * Of several services that look for a contract's source, one that has it counts: that another has not changes nothing.
 */
export function enrichFeed({ feed, enrichers, clock }: EnrichOptions): Feed {
  const { name, origin, facts } = feed;
  const trouble = () => {
    const down = enrichers.flatMap((one) =>
      one.trouble === undefined ? [] : [`${one.name} ${one.trouble}`],
    );
    const parts = [feed.trouble?.(), ...down].filter((part) => part !== undefined);
    return parts.length === 0 ? undefined : parts.join("; ");
  };
  return {
    ...{ name, origin, trouble },
    ...(feed.parts ? { parts: feed.parts } : {}),
    services: () => [...(feed.services?.() ?? []), ...enrichers.map((enricher) => enricher.report())],
    facts: { ...facts, profiles: true },
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
  const noted = new NotedTokens(clock);
  const working = enrichers.map((enricher) =>
    enricher.run((token, facts) => found.add(token, facts), AbortSignal.any([signal, ending.signal])),
  );
  try {
    for await (const event of feed.events(signal)) {
      yield event;
      if (event.kind === "clock") yield* found.take(event.at);
      else if (event.group !== "exchange" && noted.isNews(event.group, event.token)) {
        for (const enricher of enrichers) enricher.note({ group: event.group, token: event.token });
      }
    }
  } finally {
    ending.abort(new DOMException("the feed was closed", "AbortError"));
    await Promise.allSettled(working);
  }
}

/** When each token was noted last. */
class NotedTokens {
  readonly #clock: Clock;
  readonly #noted = new BoundedMap<string, number>(MAX_NOTED);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  isNews(group: TokenRef["group"], token: string): boolean {
    const key = keyOf({ group, token });
    const now = this.#clock.monotonic();
    const before = this.#noted.get(key);
    if (before !== undefined && now - before < NOTE_AGAIN_MS) return false;
    this.#noted.set(key, now);
    return true;
  }
}

/** What was found out and not told yet. */
class Findings {
  readonly #found = new Map<string, { readonly token: TokenRef; readonly facts: Facts }>();
  /** What was told of each token, so that nothing is told twice. */
  readonly #told = new BoundedMap<string, Facts>(MAX_NOTED);

  add(token: TokenRef, facts: Facts): void {
    const key = keyOf(token);
    const before = { ...this.#told.get(key), ...this.#found.get(key)?.facts };
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
      this.#told.set(key, { ...this.#told.get(key), ...facts });
      yield { kind: "profile", at, ...token, ...facts };
    }
  }
}
