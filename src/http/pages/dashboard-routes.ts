import type { FastifyInstance } from "fastify";
import { FlarewireError } from "../../protocol/index.ts";
import type { HttpSettings } from "../http-settings.ts";
import type { Representation } from "../rest/representation.ts";
import { PAGE_FIELDS, sendPage, varyOf } from "./send-page.ts";

/** File names contain a hash of their content. */
const ASSET_FIELDS = { "cache-control": "public, max-age=31536000, immutable" } as const;

/** Serves the dashboard: `/`, its worker and icons, `/assets/`. A problem if it was not built. */
export function addDashboardRoutes(
  scope: FastifyInstance,
  settings: Pick<HttpSettings, "corsOrigins">,
  pages: ReadonlyMap<string, Representation>,
): void {
  const vary = varyOf(settings);
  scope.route({
    method: ["GET", "HEAD"],
    url: "/",
    handler: (request, reply) => {
      const [path = "", query] = request.url.split("?");
      // URLs in the page are relative, so it works below any path of a proxy.
      if (!path.endsWith("/")) {
        const last = path.slice(path.lastIndexOf("/") + 1);
        return reply.redirect(`./${last}/${query === undefined ? "" : `?${query}`}`, 308);
      }
      const page = pages.get("index.html");
      if (!page)
        throw new FlarewireError(
          "not-found",
          "the dashboard is not built: npm ci with development dependencies builds it",
        );
      return sendPage(request, reply.headers(PAGE_FIELDS), page, vary);
    },
  });
  // The worker is beside the page, which is its scope. Its name is fixed, so caches revalidate it.
  for (const [name, file] of pages) {
    if (name.includes("/") || name.endsWith(".html")) continue;
    scope.route({
      method: ["GET", "HEAD"],
      url: `/${name}`,
      handler: (request, reply) => sendPage(request, reply.headers(PAGE_FIELDS), file, vary),
    });
  }
  scope.route({
    method: ["GET", "HEAD"],
    url: "/assets/:name",
    handler: (request, reply) => {
      const { name } = request.params as { readonly name: string };
      const asset = pages.get(`assets/${name}`);
      if (!asset) throw new FlarewireError("not-found", "there is no such file of the dashboard");
      return sendPage(request, reply.headers(ASSET_FIELDS), asset, vary);
    },
  });
}
