import type { FastifyInstance, FastifyRequest } from "fastify";
import { FlarewireError } from "../../base/protocol/index.ts";
import type { HttpSettings, Representation } from "../../gateway/http/index.ts";
import { readBuilt } from "./built-pages.ts";
import { answerUnbuilt } from "./missing-page.ts";
import { PAGE_FIELDS, sendPage, varyOf } from "./send-page.ts";

/** File names contain a hash of their content. */
const ASSET_FIELDS = { "cache-control": "public, max-age=31536000, immutable" } as const;
/**
 * The name never changes, so caches revalidate after five minutes. Cross-origin isolated pages may
 * load it too.
 */
const SCRIPT_FIELDS = {
  "cache-control": "public, max-age=300",
  "cross-origin-resource-policy": "cross-origin",
} as const;

const NO_DASHBOARD = "the dashboard is not built: npm run pages builds it, with development dependencies";
const NO_WIDGET = "the widget is not built: npm run pages builds it, with development dependencies";

/** Paths that people open in a browser. */
const PAGES: ReadonlySet<string> = new Set(["/", "/widgets"]);

/**
 * Serves the dashboard: `/`, its worker and icons, `/assets/`; and the scripts of the elements for
 * any origin, with their demonstration at `/widgets`. If they were not built, browsers get a page
 * with instructions, and other clients a problem. `first` returns the page at `/`; by default, the
 * built one.
 */
export function addPageRoutes(
  scope: FastifyInstance,
  settings: Pick<HttpSettings, "basePath" | "corsOrigins">,
  pages: ReadonlyMap<string, Representation>,
  first = async () => pages.get("index.html"),
): void {
  const vary = varyOf(settings);
  const widget = readBuilt("widget");
  const add = (
    url: string,
    fileOf: (request: FastifyRequest) => Representation | Promise<Representation | undefined> | undefined,
    fields: Readonly<Record<string, string>>,
    missing: string,
  ) =>
    scope.route({
      method: ["GET", "HEAD"],
      url,
      handler: async (request, reply) => {
        // URLs in the dashboard are relative, so it works below any path of a proxy.
        const [path = "", query] = request.url.split("?");
        if (url === "/" && !path.endsWith("/")) {
          const last = path.slice(path.lastIndexOf("/") + 1);
          return reply.redirect(`./${last}/${query === undefined ? "" : `?${query}`}`, 308);
        }
        const file = await fileOf(request);
        if (!file) {
          if (PAGES.has(url) && answerUnbuilt(request, reply, settings.basePath)) return reply;
          throw new FlarewireError("not-found", missing);
        }
        return sendPage(request, reply.headers(fields), file, vary);
      },
    });
  add("/", first, PAGE_FIELDS, NO_DASHBOARD);
  // The worker is in the page's folder, because its scope must include the page. Names are fixed,
  // so caches revalidate them.
  for (const [name, file] of pages)
    if (!name.includes("/") && !name.endsWith(".html")) add(`/${name}`, () => file, PAGE_FIELDS, "");
  const assetOf = ({ params }: FastifyRequest) => {
    const { name } = params as { readonly name: string };
    return pages.get(`assets/${name}`);
  };
  add("/assets/:name", assetOf, ASSET_FIELDS, "the dashboard has no such file");
  for (const name of ["widget.js", "flare-strip.js"])
    add(`/${name}`, () => widget.get(name), SCRIPT_FIELDS, NO_WIDGET);
  add("/widgets", () => pages.get("widgets.html"), PAGE_FIELDS, NO_WIDGET);
}
