import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { HistoryReader, StoredRecord } from "../../history/index.ts";
import { BoundedMap } from "../../lib/bounded-map.ts";
import { DAY_MS } from "../../lib/time/time.ts";
import type { Explanation, Flare, FlareRecord } from "../../model/index.ts";
import { FlarewireError, type Plan, type Snapshot, snapshotOfPlan } from "../../protocol/index.ts";
import { allowAll } from "../access/access.ts";
import { quote } from "../connections/admission.ts";
import { AT_PARAMETER, HISTORY_PARAMETERS, queryNames, RECORD_PARAMETERS } from "../contracts/parameters.ts";
import { HISTORY_ENDPOINTS } from "../endpoints.ts";
import { noDataYet } from "../problems/no-data-yet.ts";
import { setFreshness } from "../rest/freshness-fields.ts";
import type { PastState, PastStates } from "../rest/past-states.ts";
import { sendReady } from "../rest/ready-answer.ts";
import { readyFields } from "../rest/ready-fields.ts";
import { Representation, versionOf } from "../rest/representation.ts";
import { createAnswer, type ResourceParts } from "../rest/resource-routes.ts";
import { readHistoryQuery, readRecordQuery } from "./history-query.ts";
import { RecordBodies } from "./record-bodies.ts";
import { TokenBodies } from "./token-bodies.ts";
import { minuteOf, recordOf } from "./token-details.ts";

interface HistoryParts extends ResourceParts {
  readonly history: HistoryReader;
  readonly past: PastStates;
}

/** Cached responses. Most clients ask for the first page, or the record of a day. */
const MAX_CACHED = 32;

/** Adds finished flares, single flares and tokens. Finished flares are the same for all plans. */
export function addHistoryRoutes(scope: FastifyInstance, parts: HistoryParts): void {
  const { head, freshness, info, policy = allowAll, quick, history, past } = parts;
  const answer = createAnswer(parts);
  const records = new RecordBodies(history);
  const cached = new BoundedMap<string, CurrentBody>(MAX_CACHED);
  /** Flares and tokens as clients without key see them. */
  const singles = new BoundedMap<string, CurrentBody>(MAX_CACHED);
  const { anonymous } = policy;
  const anonymousFields = readyFields(anonymous?.fields ?? {});
  const tokens = new TokenBodies({ head, history });
  const shownTo = createShown();
  const quicklyFrom = (known: ReadonlyMap<string, CurrentBody>) => (request: IncomingMessage) => {
    const body = head.ready ? known.get(request.url ?? "")?.() : undefined;
    return body && answer.now(request, body, anonymousFields);
  };
  const add = (path: string, parameters: readonly string[], read: Read) => {
    scope.route({
      method: ["GET", "HEAD"],
      url: path.replace(/\{(\w+)\}/g, ":$1"),
      config: { parameters },
      handler: async (request, reply) => {
        const { plan } = policy.admit(request, reply);
        if (!head.ready) {
          const fresh = freshness();
          setFreshness(reply, fresh, info());
          throw noDataYet(fresh);
        }
        const { at } = request.query as { readonly at?: unknown };
        const known = cached.get(request.raw.url ?? "")?.();
        if (known) return sendReady(reply, answer.now(request.raw, known));
        const then = at === undefined ? undefined : await past.read(at);
        const bodyFor = await read(request, then, plan);
        // Without a wait from here on: the fields and the body show the same moment (law L2).
        const body = bodyFor(shownTo((then?.head ?? head).snapshot, plan));
        return sendReady(reply, then ? answer.past(request.raw, body, then) : answer.now(request.raw, body));
      },
    });
  };
  const addCached = (path: string, parameters: readonly string[], read: ReadCached) => {
    add(path, parameters, async ({ query, raw }) => {
      const [body, current] = await read(query as Readonly<Record<string, unknown>>);
      cached.set(raw.url ?? "", current);
      return () => body;
    });
    if (anonymous) quick?.addQueried(`${scope.prefix}${path}`, quicklyFrom(cached));
  };
  const addSingle = (path: string, parameters: readonly string[], read: Read) => {
    add(path, parameters, async (request, then, plan) => {
      const { flaresVersion } = history;
      const minuteMs = minuteOf(head.observedAtMs);
      const bodyFor = await read(request, then, plan);
      return (shown) => {
        const body = bodyFor(shown);
        const { snapshot } = head;
        const isCurrent = () =>
          head.snapshot === snapshot &&
          history.flaresVersion === flaresVersion &&
          minuteOf(head.observedAtMs) === minuteMs;
        if (!then && flaresVersion !== undefined && plan === anonymous?.access.plan)
          singles.set(request.raw.url ?? "", () => (isCurrent() ? body : undefined));
        return body;
      };
    });
    if (anonymous) quick?.addBelow(`${scope.prefix}${path.replace(/\{.*/, "")}`, quicklyFrom(singles));
  };
  addCached(HISTORY_ENDPOINTS.history.path, queryNames(HISTORY_PARAMETERS), async (query) => {
    const wanted = readHistoryQuery(query);
    const { flaresVersion } = history;
    // One more than wanted shows whether there is another page.
    const found = wanted ? await history.page({ ...wanted, limit: wanted.limit + 1 }) : [];
    const body = bodyOf(pageText(found, wanted?.limit ?? 0));
    const isKnown = flaresVersion !== undefined;
    return [body, () => (isKnown && history.flaresVersion === flaresVersion ? body : undefined)];
  });
  addSingle(HISTORY_ENDPOINTS.flare.path, [AT_PARAMETER.name], async ({ params }, then) => {
    const { id } = params as { readonly id: string };
    // In this order: a flare that finishes meanwhile moves from the first to the second.
    const [started, stored] = await Promise.all([history.started(id), history.find(id)]);
    if (!then) return (shown) => bodyOf(flareText(id, shown, started ?? null, stored));
    const reason = started ?? (stored ? parseRecord(stored).started : null);
    return (shown) => bodyOf(flareText(id, shown, reason, stored && recordAsOf(then.atMs, shown, stored)));
  });
  addSingle(HISTORY_ENDPOINTS.token.path, [], ({ params }, _then, plan) => {
    const given = params as { readonly group: string; readonly token: string };
    return tokens.read(given, shownTo(head.snapshot, plan), plan);
  });
  addCached(HISTORY_ENDPOINTS.record.path, queryNames(RECORD_PARAMETERS), async (query) => {
    const wanted = readRecordQuery(query);
    const body = await records.bodyOf(wanted, head.observedAtMs);
    return [body, () => records.current(wanted, head.observedAtMs)];
  });
}

/** Returns the prepared body, if it is still that of the present state. */
type CurrentBody = () => Representation | undefined;

/** Returns a body of every plan, and how to look it up again. */
type ReadCached = (
  query: Readonly<Record<string, unknown>>,
) => Promise<readonly [body: Representation, current: CurrentBody]>;

/** Returns a function of what the client's plan shows. */
type Read = (
  request: FastifyRequest,
  then: PastState | undefined,
  plan: Plan | undefined,
) => Promise<(shown: Snapshot) => Representation>;

/** Returns a function that returns what a plan sees: the same object for the same snapshot. */
function createShown(): (snapshot: Snapshot, plan: Plan | undefined) => Snapshot {
  const free = new WeakMap<Snapshot, Snapshot>();
  return (snapshot, plan) => {
    if (plan !== "free") return snapshot;
    const shown = free.get(snapshot) ?? snapshotOfPlan(snapshot, plan);
    free.set(snapshot, shown);
    return shown;
  };
}

/** Returns a finished flare's record as it was then; `undefined` if it had not finished. */
function recordAsOf(atMs: number, shown: Snapshot, stored: StoredRecord): StoredRecord | undefined {
  const { finished_trending } = shown.flares;
  const { id, finishedMs } = stored.key;
  if (finished_trending.some((flare) => flare.id === id))
    return {
      ...stored,
      body: JSON.stringify({ ...parseRecord(stored), outcome: shown.outcomes[id] ?? null }),
    };
  // Then it had left the list long before, or was to enter it.
  const listedMs = finished_trending.map((flare) => Date.parse(flare.finished_trending_at ?? ""));
  const oldestMs = listedMs.length === 0 ? atMs - DAY_MS : Math.min(...listedMs);
  return finishedMs < oldestMs ? stored : undefined;
}

function parseRecord({ body }: StoredRecord): FlareRecord {
  return JSON.parse(body) as FlareRecord;
}

/** Returns the flare's record as JSON. Throws `not-found`. */
export function flareText(
  id: string,
  shown: Snapshot,
  started: Explanation | null,
  stored: StoredRecord | undefined,
): string {
  const { pro, free, finished_trending } = shown.flares;
  const isIt = (flare: Flare) => flare.id === id;
  const running = pro.find(isIt) ?? free.find(isIt);
  if (running) return JSON.stringify(recordOf(running, started, shown));
  if (stored) return stored.body;
  // The history is written after the head has moved.
  const finished = finished_trending.find(isIt);
  if (finished) return JSON.stringify(recordOf(finished, started, shown));
  throw new FlarewireError("not-found", `no flare with the id ${quote(id)} is running or stored`);
}

function pageText(found: readonly StoredRecord[], limit: number): string {
  const page = found.slice(0, limit);
  const last = found.length > limit ? page.at(-1)?.key : undefined;
  const next = last ? `"${last.finishedMs}.${last.id}"` : "null";
  return `{"flares":[${page.map(({ body }) => body).join(",")}],"next":${next}}`;
}

function bodyOf(text: string): Representation {
  const bytes = Buffer.from(text);
  return new Representation(bytes, versionOf(bytes));
}
