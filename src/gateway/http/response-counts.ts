import type { FastifyInstance } from "fastify";

/** Counts as the route of responses to paths that no route serves. */
const UNKNOWN = "unknown";

/** Counts responses by route and status. An accepted stream counts as a connection instead. */
export class ResponseCounts {
  readonly #byRoute = new Map<string, Map<number, number>>();

  /** `route`: a path with placeholders, never a client's own text. */
  count(route: string, status: number): void {
    const known = this.#byRoute.get(route);
    if (known) known.set(status, (known.get(status) ?? 0) + 1);
    else this.#byRoute.set(route, new Map([[status, 1]]));
  }

  /** Counts the responses of the framework's routes, and those to unknown paths. */
  watch(app: FastifyInstance): void {
    app.addHook("onResponse", (request, reply, done) => {
      const { is404, routeOptions } = request;
      this.count((is404 ? undefined : routeOptions.url) ?? UNKNOWN, reply.statusCode);
      done();
    });
  }

  get all(): readonly (readonly [{ readonly route: string; readonly status: string }, number])[] {
    return [...this.#byRoute].flatMap(([route, counts]) =>
      [...counts].map(([status, count]) => [{ route, status: `${status}` }, count] as const),
    );
  }
}
