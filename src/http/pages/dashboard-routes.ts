import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { FlarewireError } from "../../protocol/index.ts";
import type { HttpSettings } from "../http-settings.ts";
import { readyAnswer, sendReady } from "../ready-answer.ts";
import { type PageFile, readBuiltPages } from "./built-pages.ts";

/** What may load and run in the dashboard: its own files, and requests and streams to this server. Nothing inline, nothing from elsewhere. */
export const DASHBOARD_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const PAGE_FIELDS = {
  "content-security-policy": DASHBOARD_POLICY,
  "referrer-policy": "no-referrer",
  "cache-control": "no-cache",
} as const;

/** What a file is made of stands in its name. */
const ASSET_FIELDS = { "cache-control": "public, max-age=31536000, immutable" } as const;

/** The dashboard at `/` below the scope's prefix, and its files at `/assets/`. Where it was not built, a problem says how. */
export function addDashboardRoutes(
  scope: FastifyInstance,
  { corsOrigins }: Pick<HttpSettings, "corsOrigins">,
  pages: ReadonlyMap<string, PageFile> = readBuiltPages(),
): void {
  const vary = corsOrigins === "*" ? "Accept-Encoding" : "Accept-Encoding, Origin";
  scope.route({
    method: ["GET", "HEAD"],
    url: "/",
    handler: (request, reply) => {
      const [path = "", query] = request.url.split("?");
      // Its addresses are relative, so that it need not know below which path a proxy shows it.
      if (!path.endsWith("/")) {
        const last = path.slice(path.lastIndexOf("/") + 1);
        return reply.redirect(`./${last}/${query === undefined ? "" : `?${query}`}`, 308);
      }
      const page = pages.get("index.html");
      if (!page)
        throw new FlarewireError("not-found", "the dashboard was not built; npm run pages builds it");
      return send(request, reply.headers(PAGE_FIELDS), page, vary);
    },
  });
  scope.route({
    method: ["GET", "HEAD"],
    url: "/assets/:name",
    handler: (request, reply) => {
      const { name } = request.params as { readonly name: string };
      const asset = pages.get(`assets/${name}`);
      if (!asset) throw new FlarewireError("not-found", "there is no such file of the dashboard");
      return send(request, reply.headers(ASSET_FIELDS), asset, vary);
    },
  });
}

function send(request: FastifyRequest, reply: FastifyReply, { body }: PageFile, vary: string): FastifyReply {
  return sendReady(reply.header("vary", vary), readyAnswer(body, [], request.raw));
}
