import type { EventMessage } from "../../client/index.ts";
import type { Explanation, Flare } from "../../model/index.ts";
import { fetchWithKey } from "./visitor/fetch-with-key.ts";

export interface Episode {
  readonly id: string;
  readonly startedAt: string;
  /** `undefined` while it runs. */
  readonly finishedAt: string | undefined;
  readonly score: number | undefined;
  readonly cause: string | undefined;
}

/** Maximum number of pages to fetch. A token's history never has more. */
const MAX_PAGES = 20;

/** Fetches the token's flares, newest first. A filter by token would reach back less far. */
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
    const response = await fetchWithKey(url, key, signal);
    if (!response.ok) throw new Error(`the server responded ${response.status} to the history request`);
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

/** Returns the token's flares in these events, newest first. */
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
      // The score of the start is the reason for the flare.
      score: before?.score ?? why?.score,
      cause: finished ? message.data.cause : before?.cause,
    });
  }
  return newestFirst([...episodes.values()]);
}

/** Adds listed flares that started before the history begins. */
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
    // The current explanation may differ from the one at the start.
    score: undefined,
    cause: explanations[id]?.finish_cause ?? undefined,
  }));
  return newestFirst([...episodes, ...listed]);
}

function newestFirst(episodes: readonly Episode[]): readonly Episode[] {
  return episodes.toSorted((a, b) => (a.startedAt < b.startedAt ? 1 : -1));
}
