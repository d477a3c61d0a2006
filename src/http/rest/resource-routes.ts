import type { IncomingMessage } from "node:http";
import type { FastifyInstance } from "fastify";
import type { Freshness, Plan, SourceInfo } from "../../protocol/index.ts";
import { type AccessPolicy, allowAll } from "../access/access.ts";
import type { HeadLike } from "../connections/head-like.ts";
import { ENDPOINTS, STREAM_PATH } from "../endpoints.ts";
import type { HttpSettings } from "../http-settings.ts";
import { noDataYet } from "../problems/no-data-yet.ts";
import { createStateFields, setFreshness } from "./freshness-fields.ts";
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
  /** Answers plain requests. Default: the routes answer all. */
  readonly quick?: QuickPath | undefined;
}

/**
 * Adds the four resources and the snapshot. Caches must revalidate (`no-cache`): data may change
 * any second. Before the first snapshot the response is `not-ready`; an empty list would be wrong.
 */
export function addResourceRoutes(scope: FastifyInstance, parts: ResourceParts): void {
  const { head, freshness, info, policy = allowAll, quick } = parts;
  const bodies = new ResourceBodies(head);
  const answer = createAnswer(parts);
  const { anonymous } = policy;
  const anonymousFields = readyFields(anonymous?.fields ?? {});
  const add = (path: string, read: Read) => {
    scope.route({
      method: ["GET", "HEAD"],
      url: path,
      config: { parameters: [] },
      handler: (request, reply) => {
        const { plan } = policy.admit(request, reply);
        if (head.ready) return sendReady(reply, answer(request.raw, read(plan)));
        const fresh = freshness();
        setFreshness(reply, fresh, info());
        throw noDataYet(fresh);
      },
    });
    if (!anonymous) return;
    quick?.add(`${scope.prefix}${path}`, (request) =>
      head.ready ? answer(request, read(anonymous.access.plan), anonymousFields) : undefined,
    );
  };
  for (const name of RESOURCES) add(ENDPOINTS[name].path, (plan) => bodies.resource(name, plan));
  add(ENDPOINTS.snapshot.path, (plan) => bodies.snapshot(plan));
}

type Read = (plan: Plan | undefined) => Representation;

/** Reads body and cursor without waiting in between, so both describe one moment (law L2). */
export function createAnswer({ head, freshness, info, settings, policy = allowAll }: ResourceParts) {
  const vary = [
    "Accept-Encoding",
    ...(policy.isKeyed ? ["Authorization"] : []),
    ...(settings.corsOrigins === "*" ? [] : ["Origin"]),
  ].join(", ");
  const lasting = readyFields({
    "cache-control": "no-cache",
    vary,
    link: `<${settings.basePath}${STREAM_PATH}>; rel="alternate"; title="events over WebSocket"`,
  });
  const stateFields = createStateFields();
  return (request: IncomingMessage, body: Representation, ...others: readonly ReadyFields[]): ReadyAnswer => {
    const state = stateFields(head.cursor, freshness(), info());
    return readyAnswer(body, [lasting, state, ...others], request);
  };
}
