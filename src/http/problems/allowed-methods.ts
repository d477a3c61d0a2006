import type { FastifyInstance } from "fastify";

/** Records which methods each path allows, from the routes as they are added. */
export class AllowedMethods {
  readonly #methods = new Map<string, Set<string>>();
  readonly #fields = new Map<string, string>();

  /** Watches every route that is added to `app` from now on, in any plugin. */
  constructor(app: FastifyInstance) {
    app.addHook("onRoute", ({ url, method }) => {
      const methods = this.#methods.get(url) ?? new Set();
      for (const one of [method].flat()) methods.add(one);
      this.#methods.set(url, methods);
      this.#fields.set(url, [...methods, "OPTIONS"].join(", "));
    });
  }

  /** Returns the `Allow` field for a request target; `undefined` if nothing is there. */
  of(requestTarget: string): string | undefined {
    if (requestTarget === "*") return "GET, HEAD, OPTIONS";
    return this.#fields.get(pathOf(requestTarget));
  }
}

/** Returns the path that the router compares: without scheme and host, without query, decoded. */
function pathOf(requestTarget: string): string {
  const path = requestTarget.replace(/^https?:\/\/[^/?#]*/i, "").replace(/[?#].*$/s, "");
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}
