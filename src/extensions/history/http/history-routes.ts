import { z } from "zod";
import { isoTime } from "../../../base/lib/time/iso-time.ts";
import { MINUTE_MS, startOf } from "../../../base/lib/time/time.ts";
import {
  type AnyFlares,
  type Explanation,
  FlareRecord,
  flaresIn,
  Group,
  Id,
  TokenDetails,
  TrackRecord,
} from "../../../base/model/index.ts";
import { FlarewireError, formatCursor, type Rights, type Snapshot } from "../../../base/protocol/index.ts";
import {
  AT,
  flarePatternsIn,
  type HeadLike,
  MARKET,
  MAX_PATH_PART,
  type PastState,
  type PreparedRoute,
  quote,
  represent,
  requireChannels,
  resource,
  shownTo,
} from "../../../gateway/http/index.ts";
import type { HistoryReader, StoredRecord } from "../index.ts";
import { RECORD_EXAMPLE, TOKEN_EXAMPLE } from "./history-examples.ts";
import { HISTORY_QUERY, RECORD_QUERY, readHistoryQuery, readRecordQuery } from "./history-query.ts";
import { historyThen } from "./history-then.ts";
import { RecordBodies } from "./record-bodies.ts";
import { TokenBodies } from "./token-bodies.ts";
import { recordOf } from "./token-details.ts";

const HistoryResponse = z
  .object({
    flares: z.array(FlareRecord),
    next: z
      .string()
      .nullable()
      .describe("Pass it as `cursor` for the next, older page; `null` on the last one."),
  })
  .describe(
    "`GET /api/v1/history`: finished flares, newest finish first, ties by id. Flares that finish between two pages appear on neither: they are newer than both.",
  )
  .meta({ id: "HistoryResponse" });
export type HistoryResponse = z.infer<typeof HistoryResponse>;

/** Finished flares, single flares, tokens and the track record, by name. */
export const HISTORY_ROUTES = {
  flare: resource({
    name: "flare",
    path: "/api/v1/flares/{id}",
    summary: "One flare, running or finished, with its explanations.",
    schema: FlareRecord,
    example: MARKET.ended,
    params: {
      id: {
        schema: Id,
        description: "The flare's id, as in lists and events.",
        example: MARKET.ended.flare.id,
      },
    },
    query: { at: AT },
    // The group is unknown until the flare is found. Then flareText checks the rights.
    channels: [],
  }),
  history: resource({
    name: "history",
    path: "/api/v1/history",
    summary: "Finished flares with their explanations, newest finish first.",
    schema: HistoryResponse,
    example: { flares: [MARKET.ended], next: null } satisfies HistoryResponse,
    query: HISTORY_QUERY,
    channels: flarePatternsIn,
    headers: ["Flarewire-Stored-Since"],
    sample: "symbol=CAKE&limit=10",
  }),
  token: resource({
    name: "token",
    path: "/api/v1/tokens/{group}/{token}",
    summary: "One token: facts, place in chart and leaderboard, a day of candles, and its flares.",
    schema: TokenDetails,
    example: TOKEN_EXAMPLE,
    params: {
      group: { schema: Group, description: "The token's group.", example: "bsc" },
      token: {
        schema: z.string().min(1).max(MAX_PATH_PART),
        description:
          "The token's address, or its symbol if no other token of the group has it, percent-encoded. Case is ignored, except in base58.",
        example: "CAKE",
      },
    },
    query: { at: AT },
    channels: channelsOfToken,
  }),
  record: resource({
    name: "record",
    path: "/api/v1/record",
    summary: "What prices did after flares, compared with other moments of the same tokens.",
    schema: TrackRecord,
    example: RECORD_EXAMPLE,
    query: RECORD_QUERY,
    channels: flarePatternsIn,
    sample: "window=7d",
  }),
} as const;

interface HistoryDependencies {
  readonly head: HeadLike;
  readonly history: HistoryReader;
}

/**
 * Adds the routes of finished flares, single flares, tokens and the track record. Finished flares
 * are the same for all plans.
 */
export function addHistoryRoutes(
  add: (route: PreparedRoute) => void,
  { head, history }: HistoryDependencies,
): void {
  const records = new RecordBodies(head, history);
  const tokens = new TokenBodies({ head, history });
  const versionAndMinutes = () => `${history.flaresVersion} ${history.minutesVersion}`;
  const versionAndState = () =>
    `${history.flaresVersion} ${formatCursor(head.cursor)} ${startOf(MINUTE_MS, head.observedAtMs)}`;
  const historyOf = (then: PastState | undefined) =>
    then ? historyThen(history, then.head.observedAtMs) : history;
  const tokensThen = new WeakMap<HeadLike, TokenBodies>();
  const tokensOf = (then: PastState | undefined) => {
    if (!then) return tokens;
    // No cache (0), because a cache for each of hundreds of minutes would have no common bound.
    const made =
      tokensThen.get(then.head) ?? new TokenBodies({ head: then.head, history: historyOf(then) }, 0);
    tokensThen.set(then.head, made);
    return made;
  };
  add({
    contract: HISTORY_ROUTES.history,
    now: versionAndMinutes,
    fields: async () => {
      const range = await history.minuteRange();
      return range ? { "flarewire-stored-since": isoTime(range.oldestMs) } : {};
    },
    read: async ({ query }, _rights, then) => {
      const wanted = readHistoryQuery(query);
      // One more than wanted shows whether there is another page.
      const found = await historyOf(then).page({ ...wanted, limit: wanted.limit + 1 });
      const body = represent(pageText(found, wanted.limit));
      return () => body;
    },
  });
  add({
    contract: HISTORY_ROUTES.flare,
    now: versionAndState,
    read: async ({ params }, rights, then) => {
      const { id } = params as { readonly id: string };
      // In this order: a flare that finishes meanwhile moves from the first to the second.
      const of = historyOf(then);
      const [started, stored] = await Promise.all([of.started(id), of.find(id)]);
      return (shown) => represent(flareText(id, shown, started ?? null, stored, rights));
    },
  });
  add({
    contract: HISTORY_ROUTES.token,
    now: versionAndState,
    read: ({ params }, { plan }, then) => {
      const path = params as { readonly group: string; readonly token: string };
      return tokensOf(then).read(path, shownTo((then?.head ?? head).snapshot, plan));
    },
  });
  add({
    contract: HISTORY_ROUTES.record,
    now: records.now,
    read: async ({ query }, _rights, then) => {
      const of = then ? new RecordBodies(then.head, historyOf(then)) : records;
      const body = await of.read(readRecordQuery(query));
      return () => body;
    },
  });
}

/** Returns the channels whose data a token's path selects. */
export function channelsOfToken(_query: unknown, params: unknown): readonly string[] {
  return ["*", "candles", ...flarePatternsIn(params)];
}

/**
 * Returns the flare's record as JSON. Throws `not-found`, and `forbidden` if the rights lack its
 * group.
 */
export function flareText(
  id: string,
  shown: Snapshot,
  started: Explanation | null,
  stored: StoredRecord | undefined,
  rights: Rights,
): string {
  const listed = (...lists: readonly (keyof AnyFlares)[]) =>
    flaresIn(shown, ...lists).find((flare) => flare.id === id);
  const running = listed("pro", "free");
  // The history is written after the head has moved.
  const flare = running ?? (stored ? undefined : listed("finished_trending"));
  const found = flare ?? (stored && (JSON.parse(stored.body) as FlareRecord).flare);
  requireChannels(rights, flarePatternsIn(found));
  if (flare) return JSON.stringify(recordOf(flare, started, shown));
  if (stored) return stored.body;
  throw new FlarewireError("not-found", `no flare with the id ${quote(id)} is running or stored`);
}

function pageText(found: readonly StoredRecord[], limit: number): string {
  const page = found.slice(0, limit);
  const last = found.length > limit ? page.at(-1)?.key : undefined;
  const next = last ? `"${last.finishedMs}.${last.id}"` : "null";
  return `{"flares":[${page.map(({ body }) => body).join(",")}],"next":${next}}`;
}
