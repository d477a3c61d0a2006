import type { FastifyInstance } from "fastify";
import type { z } from "zod";
import type { ErrorCode } from "../../../base/protocol/index.ts";
import type { ParameterSet } from "./parameters.ts";
import type { HeaderName } from "./response-headers.ts";

/** What a route accepts. The server checks it before the route's handler. */
export interface RouteRules<Q extends ParameterSet = ParameterSet> {
  /** Query parameters; others are rejected. Absent: the route ignores its query. */
  readonly query?: Q;
  /** The one of {@link query} that may contain a key, for clients that cannot send it otherwise. */
  readonly keyParameter?: string;
  /**
   * Channels, or patterns of them, whose data the route serves. A key that is limited to some
   * channels gets `forbidden` if it lacks one of these that its plan has. Default: `*` and
   * `candles`. Empty: the route itself selects permitted channels. A function reads them from the
   * query and the path's parameters.
   */
  readonly channels?: readonly string[] | ((query: unknown, params: unknown) => readonly string[]);
  /** How many requests a request counts as, by its use of the processor. Default 1. */
  readonly cost?: number;
}

/** Returns how many requests a request with this query counts as. */
export function costOf({ cost = 1, query = {} }: RouteRules, given: unknown): number {
  return Object.keys(Object(given)).reduce((sum, name) => sum + (query[name]?.cost ?? 0), cost);
}

/** A response whose status is below 400. */
export interface RouteResponse {
  readonly description: string;
  readonly headers: readonly HeaderName[];
  /** Bodies by content type. Default: none. */
  readonly content?: Readonly<
    Record<
      string,
      {
        readonly schema: z.ZodType;
        readonly example?: unknown;
        /** Several examples by name, instead of one. */
        readonly examples?: Readonly<Record<string, unknown>>;
      }
    >
  >;
}

/**
 * A route of the API: what it accepts and how it answers. It is the route's `config.contract`. The
 * OpenAPI document and `/docs` are made of the contracts of all routes that a server has. A route
 * that is not part of the API has only {@link RouteRules}.
 */
export interface RouteContract<Q extends ParameterSet = ParameterSet> extends RouteRules<Q> {
  /** Names the operation and its page, unlike any other. */
  readonly name: string;
  /** Relative to the base path, with parts in braces. */
  readonly path: string;
  /** GET includes HEAD, unless the route is a WebSocket (status 101). All have OPTIONS. */
  readonly method: "GET" | "POST";
  readonly tag: (typeof TAGS)[number]["name"];
  /** One sentence. */
  readonly summary: string;
  readonly description?: string;
  /** The parts of the path in braces. */
  readonly params?: ParameterSet;
  /** Header fields of requests, except those of any request. */
  readonly headers?: ParameterSet;
  /** By status. */
  readonly responses: Readonly<Record<number, RouteResponse>>;
  /** Problems of the route, in addition to {@link ANY_PROBLEMS}. */
  readonly problems: readonly ErrorCode[];
  /** The query of the documents' samples. Default: none. */
  readonly sample?: string;
}

/** The kinds of routes, in the order of the documents. */
export const TAGS = [
  { name: "resources", description: "The current state of the market." },
  { name: "events", description: "The changes, as they happen." },
  { name: "probes", description: "Health, readiness and metrics, for operators." },
  { name: "documents", description: "This documentation." },
] as const;

/** Problems of any path: invalid requests, exceeded limits and internal errors. */
export const ANY_PROBLEMS = [
  "invalid-request",
  "host-refused",
  "request-timeout",
  "content-too-large",
  "address-too-long",
  "unsupported-media-type",
  "headers-too-large",
  "rate-limited",
  "over-capacity",
  "internal",
] as const satisfies readonly ErrorCode[];

declare module "fastify" {
  interface FastifyContextConfig {
    readonly contract?: RouteRules | RouteContract;
  }
  interface FastifyInstance {
    /** The contracts of the routes that were added so far, in any scope: see `collectContracts`. */
    readonly routeContracts: ReadonlySet<RouteContract>;
  }
}

/** Collects the contracts of the routes that are added to `app` from now on, in any plugin. */
export function collectContracts(app: FastifyInstance): void {
  const contracts = new Set<RouteContract>();
  app.decorate("routeContracts", contracts);
  app.addHook("onRoute", ({ config }) => {
    if (config?.contract && "path" in config.contract) contracts.add(config.contract);
  });
}

/** Converts `/flares/{id}` to Fastify's `/flares/:id`. */
export function routeOf(path: string): string {
  return path.replace(/\{(\w+)\}/g, ":$1");
}
