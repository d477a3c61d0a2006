import type { FastifyInstance } from "fastify";

/** Records which methods each path allows, from the routes as they are added. */
export class AllowedMethods {
  readonly #methods = new Map<string, Set<string>>();
  readonly #fields = new Map<string, string>();
  /** Paths with parameters. */
  readonly #patterns = new Map<string, RegExp>();

  /** Watches every route that is added to `app` from now on, in any plugin. */
  constructor(app: FastifyInstance) {
    app.addHook("onRoute", ({ url, method }) => {
      const methods = this.#methods.get(url) ?? new Set();
      for (const one of [method].flat()) methods.add(one);
      this.#methods.set(url, methods);
      this.#fields.set(url, [...methods, "OPTIONS"].join(", "));
      if (url.includes(":")) this.#patterns.set(url, new RegExp(`^${url.replace(/:\w+/g, "[^/]+")}$`));
    });
  }

  /** Returns the `Allow` field for a request target; `undefined` if nothing is there. */
  of(requestTarget: string): string | undefined {
    if (requestTarget === "*") return "GET, HEAD, OPTIONS";
    const path = pathOf(requestTarget);
    const pattern = [...this.#patterns].find(([, matching]) => matching.test(path));
    return this.#fields.get(path) ?? this.#fields.get(pattern?.[0] ?? "");
  }
}

/** Returns the path that the router compares: without scheme and host, without query, decoded. */
export function pathOf(requestTarget: string): string {
  const path = requestTarget.replace(/^https?:\/\/[^/?#]*/i, "").replace(/[?#].*$/s, "");
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}
