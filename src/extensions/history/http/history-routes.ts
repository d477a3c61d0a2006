import { isoTime } from "../../../base/lib/time/iso-time.ts";
import { MINUTE_MS, startOf } from "../../../base/lib/time/time.ts";
import { type AnyFlares, type Explanation, type FlareRecord, flaresIn } from "../../../base/model/index.ts";
import { FlarewireError, formatCursor, type Rights, type Snapshot } from "../../../base/protocol/index.ts";
import { requireChannels } from "../../../gateway/http/access/key-access-policy.ts";
import { quote } from "../../../gateway/http/connections/admission.ts";
import type { HeadLike } from "../../../gateway/http/connections/head-like.ts";
import { HISTORY_ENDPOINTS } from "../../../gateway/http/endpoints.ts";
import {
  AT_PARAMETER,
  HISTORY_PARAMETERS,
  queryNames,
  RECORD_PARAMETERS,
} from "../../../gateway/http/parameters.ts";
import type { PastState } from "../../../gateway/http/rest/past-states.ts";
import { type PreparedRoute, shownTo } from "../../../gateway/http/rest/prepared-routes.ts";
import { represent } from "../../../gateway/http/rest/representation.ts";
import { flarePatternsIn } from "../../../gateway/http/rest/resource-routes.ts";
import type { HistoryReader, StoredRecord } from "../index.ts";
import { readHistoryQuery, readRecordQuery } from "./history-query.ts";

import { historyThen } from "./history-then.ts";
import { RecordBodies } from "./record-bodies.ts";
import { TokenBodies } from "./token-bodies.ts";
import { recordOf } from "./token-details.ts";

interface HistoryParts {
  readonly head: HeadLike;
  readonly history: HistoryReader;
}

/**
 * Adds the routes of finished flares, single flares, tokens and the track record. Finished flares
 * are the same for all plans.
 */
export function addHistoryRoutes(add: (route: PreparedRoute) => void, { head, history }: HistoryParts): void {
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
    path: HISTORY_ENDPOINTS.history.path,
    parameters: [AT_PARAMETER.name, ...queryNames(HISTORY_PARAMETERS)],
    channels: flarePatternsIn,
    now: versionAndMinutes,
    fields: async () => {
      const range = await history.minuteRange();
      return range ? { "flarewire-stored-since": isoTime(range.oldestMs) } : {};
    },
    read: async ({ query }, _rights, then) => {
      const wanted = readHistoryQuery(query as Readonly<Record<string, unknown>>);
      // One more than wanted shows whether there is another page.
      const found = await historyOf(then).page({ ...wanted, limit: wanted.limit + 1 });
      const body = represent(pageText(found, wanted.limit));
      return () => body;
    },
  });
  add({
    path: HISTORY_ENDPOINTS.flare.path,
    parameters: [AT_PARAMETER.name],
    // The group is unknown until the flare is found. Then flareText checks the rights.
    channels: [],
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
    path: HISTORY_ENDPOINTS.token.path,
    parameters: [AT_PARAMETER.name],
    channels: channelsOfToken,
    now: versionAndState,
    read: ({ params }, { plan }, then) => {
      const given = params as { readonly group: string; readonly token: string };
      return tokensOf(then).read(given, shownTo((then?.head ?? head).snapshot, plan));
    },
  });
  add({
    path: HISTORY_ENDPOINTS.record.path,
    parameters: [AT_PARAMETER.name, ...queryNames(RECORD_PARAMETERS)],
    channels: flarePatternsIn,
    now: records.now,
    read: async ({ query }, _rights, then) => {
      const of = then ? new RecordBodies(then.head, historyOf(then)) : records;
      const body = await of.read(readRecordQuery(query as Readonly<Record<string, unknown>>));
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
