import type { FastifyInstance } from "fastify";
import { FlarewireError } from "../../protocol/index.ts";
import type { HttpSettings } from "../http-settings.ts";
import type { Representation } from "../rest/representation.ts";
import { PAGE_FIELDS, sendPage, varyOf } from "./send-page.ts";

/** The name never changes: caches revalidate. Cross-origin isolated pages may load it too. */
const SCRIPT_FIELDS = {
  "cache-control": "public, max-age=300",
  "cross-origin-resource-policy": "cross-origin",
} as const;

const NOT_BUILT = "the widget is not built: npm ci with development dependencies builds it";

/** Serves the scripts of the elements for any origin, and the demonstration at `/widgets`. */
export function addWidgetRoutes(
  scope: FastifyInstance,
  settings: Pick<HttpSettings, "corsOrigins">,
  pages: ReadonlyMap<string, Representation>,
  widget: ReadonlyMap<string, Representation>,
): void {
  const vary = varyOf(settings);
  const served = [
    { url: "/widget.js", file: widget.get("widget.js"), fields: SCRIPT_FIELDS },
    { url: "/flare-strip.js", file: widget.get("flare-strip.js"), fields: SCRIPT_FIELDS },
    { url: "/widgets", file: pages.get("widgets.html"), fields: PAGE_FIELDS },
  ];
  for (const { url, file, fields } of served) {
    scope.route({
      method: ["GET", "HEAD"],
      url,
      handler: (request, reply) => {
        if (!file) throw new FlarewireError("not-found", NOT_BUILT);
        return sendPage(request, reply.headers(fields), file, vary);
      },
    });
  }
}
