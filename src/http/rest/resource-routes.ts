import type { IncomingMessage } from "node:http";
import type { FastifyInstance } from "fastify";
import type { Freshness, Plan, SourceInfo } from "../../protocol/index.ts";
import { type AccessPolicy, allowAll } from "../access/access.ts";
import type { HeadLike } from "../connections/head-like.ts";
import { AT_PARAMETER } from "../contracts/parameters.ts";
import { ENDPOINTS, STREAM_PATH } from "../endpoints.ts";
import type { HttpSettings } from "../http-settings.ts";
import { noDataYet } from "../problems/no-data-yet.ts";
import { createStateFields, setFreshness } from "./freshness-fields.ts";
import type { PastState, PastStates } from "./past-states.ts";
import type { QuickPath } from "./quick-path.ts";
import { type ReadyAnswer, readyAnswer, sendReady } from "./ready-answer.ts";
import { type ReadyFields, readyFields } from "./ready-fields.ts";
import type { Representation } from "./representation.ts";
import { RESOURCES, ResourceBodies } from "./resource-bodies.ts";

export interface ResourceParts {
  readonly head: HeadLike;
  readonly freshness: () => Freshness;
  readonly info: () => SourceInfo;
  /** Decides who may read what. Default: everyone may read everything. */
  readonly policy?: AccessPolicy | undefined;
  readonly settings: Pick<HttpSettings, "basePath" | "corsOrigins">;
  /** Past states, for the parameter `at`. Default: there is no such parameter. */
  readonly past?: PastStates | undefined;
  /** Answers plain requests. Default: the routes answer all. */
  readonly quick?: QuickPath | undefined;
}

/**
 * Adds the four resources, the candles and the snapshot. Caches must revalidate (`no-cache`): data
 * may change any second. Before the first snapshot the response is `not-ready`; an empty list would
 * be wrong.
 */
export function addResourceRoutes(scope: FastifyInstance, parts: ResourceParts): void {
  const { head, freshness, info, policy = allowAll, quick, past } = parts;
  const bodies = new ResourceBodies(head);
  const answer = createAnswer(parts);
  const { anonymous } = policy;
  const anonymousFields = readyFields(anonymous?.fields ?? {});
  const add = (path: string, read: Read, past?: PastStates) => {
    scope.route({
      method: ["GET", "HEAD"],
      url: path,
      config: { parameters: past ? [AT_PARAMETER.name] : [] },
      handler: (request, reply) => {
        const { plan } = policy.admit(request, reply);
        if (!head.ready) {
          const fresh = freshness();
          setFreshness(reply, fresh, info());
          throw noDataYet(fresh);
        }
        const { at } = request.query as { readonly at?: unknown };
        if (!past || at === undefined) return sendReady(reply, answer.now(request.raw, read(bodies, plan)));
        return past
          .read(at)
          .then((state) => sendReady(reply, answer.past(request.raw, read(state.bodies, plan), state)));
      },
    });
    if (!anonymous) return;
    quick?.add(`${scope.prefix}${path}`, (request) =>
      head.ready ? answer.now(request, read(bodies, anonymous.access.plan), anonymousFields) : undefined,
    );
  };
  for (const name of RESOURCES) add(ENDPOINTS[name].path, (of, plan) => of.resource(name, plan), past);
  add(ENDPOINTS.candles.path, (of, plan) => of.candles(plan));
  add(ENDPOINTS.snapshot.path, (of, plan) => of.snapshot(plan), past);
}

type Read = (of: ResourceBodies, plan: Plan | undefined) => Representation;

/**
 * Not `immutable`: a replay that starts over, or a clock that is set back, replaces past minutes.
 * A cached one is at most a minute old; then a request with its entity tag confirms it.
 */
const PAST_CACHE_CONTROL = "max-age=60";

/** Reads body and cursor without waiting in between, so both describe one moment (law L2). */
export function createAnswer({ head, freshness, info, settings, policy = allowAll }: ResourceParts) {
  const vary = [
    "Accept-Encoding",
    ...(policy.isKeyed ? ["Authorization"] : []),
    ...(settings.corsOrigins === "*" ? [] : ["Origin"]),
  ].join(", ");
  const link = `<${settings.basePath}${STREAM_PATH}>; rel="alternate"; title="events over WebSocket"`;
  const lasting = readyFields({ "cache-control": "no-cache", vary, link });
  const pastLasting = readyFields({ "cache-control": PAST_CACHE_CONTROL, vary, link });
  const stateFields = createStateFields();
  return {
    now: (request: IncomingMessage, body: Representation, ...others: readonly ReadyFields[]): ReadyAnswer => {
      const state = stateFields(head.cursor, freshness(), info());
      return readyAnswer(body, [lasting, state, ...others], request);
    },
    past: (request: IncomingMessage, body: Representation, { fields }: PastState): ReadyAnswer =>
      readyAnswer(body, [pastLasting, fields], request),
  };
}
