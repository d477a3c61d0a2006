import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import {
  FlarewireError,
  type Freshness,
  formatCursor,
  type Plan,
  type SourceInfo,
} from "../protocol/index.ts";
import { chooseCoding } from "./accept-encoding.ts";
import { type Door, openDoor } from "./access.ts";
import { ENDPOINTS, STREAM_PATH } from "./endpoints.ts";
import type { HeadLike } from "./head-like.ts";
import type { HttpSettings } from "./http-settings.ts";
import { namesEtag } from "./if-none-match.ts";
import type { Representation } from "./representation.ts";
import { RESOURCES, ResourceBodies } from "./resource-bodies.ts";

/** What the resources are made of. */
export interface ResourceParts {
  readonly head: HeadLike;
  readonly freshness: () => Freshness;
  readonly info: () => SourceInfo;
  /** Decides who may read, and what; default: everybody, everything. */
  readonly door?: Door | undefined;
  readonly settings: Pick<HttpSettings, "basePath" | "corsOrigins">;
}

/**
 * The four resources and the snapshot, below the prefix of `scope`. Caches may keep the answers but ask before each use
 * (`no-cache`): the data may change any second, and asking costs a 304 without a body. Until the first snapshot there
 * is nothing to show, and an empty list would be a lie: the answer is `not-ready`.
 */
export function addResourceRoutes(scope: FastifyInstance, parts: ResourceParts): void {
  const bodies = new ResourceBodies(parts.head);
  const serve = createResponder(parts);
  const add = (path: string, read: Read) =>
    scope.route({
      method: ["GET", "HEAD"],
      url: path,
      handler: (request, reply) => serve(request, reply, read),
    });
  for (const name of RESOURCES) add(ENDPOINTS[name].path, (plan) => bodies.resource(name, plan));
  add(ENDPOINTS.snapshot.path, (plan) => bodies.snapshot(plan));
}

type Read = (plan: Plan | undefined) => Representation;
type Responder = (request: FastifyRequest, reply: FastifyReply, read: Read) => FastifyReply;

/** Waits for nothing between reading the body and the cursor: both are of one instant (law L2). */
function createResponder({ head, freshness, info, settings, door = openDoor }: ResourceParts): Responder {
  const vary = [
    "Accept-Encoding",
    ...(door.isKeyed ? ["Authorization"] : []),
    ...(settings.corsOrigins === "*" ? [] : ["Origin"]),
  ].join(", ");
  const link = `<${settings.basePath}${STREAM_PATH}>; rel="alternate"; title="events over WebSocket"`;
  return (request, reply, read) => {
    const { plan } = door.admit(request, reply);
    setFreshness(reply, freshness(), info());
    if (!head.ready) throw new FlarewireError("not-ready", "there is no first snapshot yet");
    const body = read(plan);
    const coding = body.codingFor(chooseCoding(request.headers["accept-encoding"]));
    const etag = body.etag(coding);
    reply.header("etag", etag);
    reply.header("cache-control", "no-cache");
    reply.header("vary", vary);
    reply.header("link", link);
    reply.header("flarewire-cursor", formatCursor(head.cursor));
    const known = request.headers["if-none-match"];
    if (known !== undefined && namesEtag(known, etag)) return reply.code(304).send();
    const bytes = body.form(coding);
    reply.header("content-type", "application/json; charset=utf-8");
    reply.header("content-length", String(bytes.length));
    if (coding !== "identity") reply.header("content-encoding", coding);
    return request.method === "HEAD" ? reply.send() : reply.send(bytes);
  };
}

const FACTS = [
  "trades",
  "liquidity",
  "listings",
  "profiles",
] as const satisfies readonly (keyof SourceInfo["facts"])[];

/** Tells how old the data is, what its source can know, and where it comes from. Not as `Age`, by which caches would reckon. */
export function setFreshness(reply: FastifyReply, fresh: Freshness, { origin, facts }: SourceInfo): void {
  reply.header("flarewire-data-age", String(Math.floor(fresh.data_age_ms / 1_000)));
  if (fresh.observed_at !== null) reply.header("flarewire-observed-at", fresh.observed_at);
  reply.header("flarewire-source-state", fresh.state);
  reply.header("flarewire-origin", origin);
  const known = FACTS.filter((name) => facts[name]);
  reply.header("flarewire-facts", known.length === 0 ? "none" : known.join(", "));
}
