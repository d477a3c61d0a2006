import type { EventMessage } from "../../client/index.ts";
import type { Explanation, Flare } from "../../model/index.ts";

/** One flare of a token. */
export interface Episode {
  readonly id: string;
  readonly startedAt: string;
  /** `undefined` while it runs. */
  readonly finishedAt: string | undefined;
  readonly score: number | undefined;
  readonly cause: string | undefined;
}

/** Pages of the history that are asked for at most: more is no history of one token. */
const MAX_PAGES = 20;

/**
 * The token's flares that the server's log still has, newest first. Rejects when it cannot be asked. The whole history of starts and finishes is read and sorted out
 * here: a filter by token would reach back only as far as all events are kept, not for the day that these are.
 */
export async function fetchEpisodes(
  server: URL,
  address: string,
  key: string | undefined,
  signal: AbortSignal,
): Promise<readonly Episode[]> {
  const messages: EventMessage[] = [];
  let after = "oldest";
  for (let page = 0; page < MAX_PAGES; page++) {
    const url = new URL("api/v1/events", server);
    url.search = new URLSearchParams({
      after,
      names: "flare-started,flare-finished",
      channels: "flares.*",
      limit: "500",
    }).toString();
    const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
    const response = await fetch(url, { signal, headers });
    if (!response.ok) throw new Error(`the history answered ${response.status}`);
    const { events, cursor, more } = (await response.json()) as {
      readonly events: readonly EventMessage[];
      readonly cursor: string;
      readonly more: boolean;
    };
    messages.push(...events);
    if (!more) break;
    after = cursor;
  }
  return episodesOf(messages, address);
}

/** The token's flares that these events tell of, newest first. */
export function episodesOf(messages: readonly EventMessage[], address: string): readonly Episode[] {
  const episodes = new Map<string, Episode>();
  for (const message of messages) {
    if (message.name !== "flare-started" && message.name !== "flare-finished") continue;
    const { flare, why } = message.data;
    if (flare.token.address.toLowerCase() !== address) continue;
    const before = episodes.get(flare.id);
    const finished = message.name === "flare-finished";
    episodes.set(flare.id, {
      id: flare.id,
      startedAt: flare.started_trending_at,
      finishedAt: finished ? (flare.finished_trending_at ?? message.observed_at) : before?.finishedAt,
      // What it started with: that is why it fired.
      score: before?.score ?? why?.score,
      cause: finished ? message.data.cause : before?.cause,
    });
  }
  return newestFirst([...episodes.values()]);
}

/** The same with those flares of the lists that the history does not tell of: they started before it begins. */
export function withListed(
  episodes: readonly Episode[],
  flares: readonly Flare[],
  explanations: Readonly<Record<string, Explanation>>,
): readonly Episode[] {
  const known = new Set(episodes.map(({ id }) => id));
  const others = flares.filter(({ id }) => !known.has(id));
  if (others.length === 0) return episodes;
  const listed = others.map(({ id, started_trending_at, finished_trending_at }) => ({
    id,
    startedAt: started_trending_at,
    finishedAt: finished_trending_at ?? undefined,
    // What its explanation says by now is not what it started with.
    score: undefined,
    cause: explanations[id]?.finish_cause ?? undefined,
  }));
  return newestFirst([...episodes, ...listed]);
}

function newestFirst(episodes: readonly Episode[]): readonly Episode[] {
  return episodes.toSorted((a, b) => (a.startedAt < b.startedAt ? 1 : -1));
}
