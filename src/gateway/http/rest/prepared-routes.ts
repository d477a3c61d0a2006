import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { type Stamp, StampedCache } from "../../../base/lib/stamped-cache.ts";
import {
  type Freshness,
  type Plan,
  type Rights,
  type Snapshot,
  type SourceInfo,
  snapshotOfPlan,
} from "../../../base/protocol/index.ts";
import type { HeadLike } from "../../hub/index.ts";
import { type AccessPolicy, allowAll } from "../access/access.ts";
import { claimantOf } from "../connections/admission.ts";
import { STREAM_PATH } from "../contract/paths.ts";
import { withoutPast } from "../contract/resource.ts";
import { type RouteContract, routeOf } from "../contract/route-contract.ts";
import type { HttpSettings } from "../http-settings.ts";
import { createStateFields, noDataYet, setFreshness } from "./freshness-fields.ts";
import type { PastState, PastStates } from "./past-states.ts";
import type { QuickPath } from "./quick-path.ts";
import { type ReadyAnswer, readyAnswer, sendReady } from "./ready-answer.ts";
import { type ReadyFields, readyFields } from "./ready-fields.ts";
import type { Representation } from "./representation.ts";

export interface ResourceContext {
  readonly head: HeadLike;
  readonly freshness: () => Freshness;
  readonly info: () => SourceInfo;
  /** Grants access. Default: everyone may read everything. */
  readonly policy?: AccessPolicy | undefined;
  readonly settings: Pick<HttpSettings, "basePath" | "corsOrigins">;
  /** Past states, for the parameter `at`. Default: there is no such parameter. */
  readonly past?: PastStates | undefined;
  /** Answers plain requests. Default: the routes answer all. */
  readonly quick?: QuickPath | undefined;
}

export interface PreparedRoute {
  readonly contract: RouteContract;
  /**
   * Returns the body at the head, for requests without `at`. Absent if {@link read} makes all
   * bodies.
   */
  readonly live?: (plan: Plan | undefined, query?: RouteQuery) => Representation;
  /** The bodies of {@link read} at the head stay cached while this returns the same text. */
  readonly now: Stamp;
  /**
   * Reads the data of bodies that are not {@link live}. Returns a function that creates the body
   * from the plan's view.
   */
  readonly read: (
    request: FastifyRequest,
    rights: Rights,
    /** The state that the parameter `at` selects; `undefined` for the head. */
    then: PastState | undefined,
  ) => Promise<(shown: Snapshot) => Representation>;
  /** Returns further header fields of a response without `at`. Default: none. */
  readonly fields?: () => Promise<Readonly<Record<string, string>>>;
}

/** A query as Fastify parses it. */
export type RouteQuery = Readonly<Record<string, unknown>>;

interface Prepared {
  readonly body: Representation;
  /** Fields of a past state. */
  readonly past?: ReadyFields | undefined;
  /** Further fields of a response without `at`. */
  readonly further?: ReadyFields | undefined;
}

/**
 * Maximum memory of cached bodies: pages of history, single flares, tokens, records and past
 * states.
 */
const MAX_BYTES = 16 * 2 ** 20;

/**
 * Returns a function that adds routes. A body is made once per plan, channels and URL, and again
 * when its data changes. Clients without a key get a prepared body by the quick path.
 *
 * Caches must revalidate (`no-cache`), except for past states: data may change any second. Before
 * the first snapshot the response is `not-ready`; an empty list would be wrong.
 */
export function createPreparedRoutes(
  scope: FastifyInstance,
  context: ResourceContext,
): (route: PreparedRoute) => void {
  const { head, freshness, info, policy = allowAll, quick, past } = context;
  const answer = createAnswer(context);
  // Twice the size, to include the compressed forms, which are made at their first use.
  const bodies = new StampedCache<Prepared>(MAX_BYTES, ({ body }) => 2 * body.bytes.length);
  const { anonymous } = policy;
  const anonymousFields = readyFields(anonymous?.fields ?? {});
  const keyOf = ({ plan, channels = [] }: Rights, url: string | undefined) => `${plan} ${channels} ${url}`;
  const addQuick = (path: string, live: PreparedRoute["live"]) => {
    if (!anonymous || !quick) return;
    const { plan } = anonymous.access;
    const route = `${scope.prefix}${routeOf(path)}`;
    const prefix = `${scope.prefix}${path.replace(/\{.*/, "")}`;
    const quickly = (request: IncomingMessage) => {
      if (!head.ready) return undefined;
      const { url } = request;
      const known = live && url === prefix ? { body: live(plan) } : bodies.get(keyOf(anonymous.access, url));
      return known && answer(request, known, anonymousFields);
    };
    if (path.includes("{")) quick.addBelow(prefix, route, quickly);
    else quick.add(prefix, quickly);
  };
  return ({ contract, live, now, read, fields }) => {
    scope.route({
      method: ["GET", "HEAD"],
      url: routeOf(contract.path),
      config: { contract: past ? contract : withoutPast(contract) },
      handler: async (request, reply) => {
        const rights = policy.admit(request, reply);
        const { plan } = rights;
        if (!head.ready) {
          const fresh = freshness();
          setFreshness(reply, fresh, info());
          throw noDataYet(fresh);
        }
        const { raw } = request;
        const query = request.query as RouteQuery;
        const { at } = query;
        if (live && at === undefined) return sendReady(reply, answer(raw, { body: live(plan, query) }));
        const key = keyOf(rights, raw.url);
        const known = bodies.get(key);
        if (known) return sendReady(reply, answer(raw, known));
        const before = now();
        const by = at === undefined || !past ? undefined : await claimantOf(policy, request);
        const then = by && (await past?.read(at, by));
        const [bodyFor, further] = await Promise.all([
          by && past ? past.inTurn(by, () => read(request, rights, then)) : read(request, rights, undefined),
          then ? undefined : fields?.(),
        ]);
        // No wait from here on, so that fields and body describe the same moment (law L2).
        const made = bodyFor(shownTo((then?.head ?? head).snapshot, plan));
        const last = bodies.last(key)?.body;
        // An equal body may have its compressed forms already.
        const body = last?.version === made.version ? last : made;
        const prepared = { body, past: then?.fields, further: further && readyFields(further) };
        bodies.set(key, prepared, then ? then.stamp : before, then?.now ?? now);
        return sendReady(reply, answer(raw, prepared));
      },
    });
    addQuick(contract.path, live);
  };
}

/**
 * Not `immutable`: a replay that starts over, or a clock that is set back, replaces past minutes. A
 * cache may reuse a response for a minute, and then confirms it by its entity tag.
 */
const PAST_CACHE_CONTROL = "max-age=60";

/**
 * Creates a function that returns the response with a body, the cursor and the data's age. It does
 * not wait, so body and cursor describe the same moment if the caller has just made the body (law
 * L2).
 */
function createAnswer({ head, freshness, info, settings, policy = allowAll }: ResourceContext) {
  const vary = [
    "Accept-Encoding",
    ...(policy.isKeyed ? ["Authorization"] : []),
    ...(settings.corsOrigins === "*" ? [] : ["Origin"]),
  ].join(", ");
  const link = `<${settings.basePath}${STREAM_PATH}>; rel="alternate"; title="events over WebSocket"`;
  const lasting = readyFields({ "cache-control": "no-cache", vary, link });
  const pastLasting = readyFields({ "cache-control": PAST_CACHE_CONTROL, vary, link });
  const stateFields = createStateFields();
  return (
    request: IncomingMessage,
    { body, past, further }: Prepared,
    ...others: readonly ReadyFields[]
  ): ReadyAnswer => {
    if (past) return readyAnswer(body, [pastLasting, past, ...others], request);
    const state = stateFields(head.cursor, freshness(), info());
    return readyAnswer(body, [lasting, state, ...(further ? [further] : []), ...others], request);
  };
}

const shownToFree = new WeakMap<Snapshot, Snapshot>();

/** Returns the plan's view of a snapshot: always the same object for the same snapshot. */
export function shownTo(snapshot: Snapshot, plan: Plan | undefined): Snapshot {
  if (plan !== "free") return snapshot;
  const shown = shownToFree.get(snapshot) ?? snapshotOfPlan(snapshot, plan);
  shownToFree.set(snapshot, shown);
  return shown;
}
