import type { FastifyReply, FastifyRequest } from "fastify";
import { RESOURCES } from "../../gateway/http/index.ts";
import { DOCUMENT_FIELDS, frameHtml } from "./frame.ts";
import { type Html, html } from "./html.ts";

/** Names of the dashboard's pages, and of earlier ones that it still knows. */
const LISTS: ReadonlySet<string> = new Set([
  ...RESOURCES,
  ...["events", "now", "finished", "markets", "feed", "record", "developers"],
]);
const MAX_SHOWN = 200;

/**
 * Answers a browser that opens an unknown path: redirects to the dashboard's list of that name, or
 * sends a page with status 404. Returns false, without an answer, for other clients, for methods
 * other than GET and HEAD, and for the API's paths.
 */
export function answerBrowser(request: FastifyRequest, reply: FastifyReply, basePath: string): boolean {
  const [path = ""] = (request.raw.url ?? "").split(/[?#]/, 1);
  const isApi = path.startsWith(`${basePath}/api/`);
  if (isApi || !(request.method === "GET" || request.method === "HEAD")) return false;
  if (!isBrowser(request, reply)) return false;
  const below = path.startsWith(basePath) ? path.slice(basePath.length) : "";
  const [, name = "", slash] = /^\/(\w+)(\/?)$/.exec(below) ?? [];
  if (LISTS.has(name)) {
    // Relative, so that it works below any path of a proxy.
    reply.redirect(`${slash === "/" ? ".." : "."}/#/${name}`, 302);
    return true;
  }
  const body = html`<h1>Nothing is here</h1>
<p>This server has no page at <code>${path.slice(0, MAX_SHOWN)}</code>. Go to the <a href="${basePath}/">dashboard</a>
or the <a href="${basePath}/docs">documents</a>.</p>`;
  sendMissing(reply, basePath, "Nothing is here", body);
  return true;
}

/**
 * Sends browsers a 404 page on how to build the pages. Returns false, without an answer, for other
 * clients.
 */
export function answerUnbuilt(request: FastifyRequest, reply: FastifyReply, basePath: string): boolean {
  if (!isBrowser(request, reply)) return false;
  const title = "The pages are not built";
  const body = html`<h1>${title}</h1>
<p>Run <code>npm run pages</code> where this server was installed, which needs development dependencies, and start the server
again. The API and the <a href="${basePath}/docs">documents</a> work without them.</p>`;
  sendMissing(reply, basePath, title, body);
  return true;
}

/** Adds `Accept` to `Vary` and returns whether the client accepts HTML. If so, forbids caching. */
function isBrowser(request: FastifyRequest, reply: FastifyReply): boolean {
  const vary = reply.getHeader("vary");
  reply.header("vary", vary === undefined ? "Accept" : `Accept, ${vary}`);
  if (!/(^|[\s,])text\/html\b/i.test(request.headers.accept ?? "")) return false;
  reply.header("cache-control", "no-store");
  return true;
}

function sendMissing(reply: FastifyReply, basePath: string, title: string, body: Html): void {
  reply
    .code(404)
    .headers(DOCUMENT_FIELDS)
    .type("text/html; charset=utf-8")
    .send(frameHtml(basePath, { title, body }));
}
