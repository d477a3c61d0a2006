import type { FastifyReply, FastifyRequest } from "fastify";
import { type HttpSettings, type Representation, readyAnswer, sendReady } from "../../gateway/http/index.ts";

/** Returns a policy that allows these kinds of content from this server only, and none inline. */
export function pagePolicy(...kinds: readonly string[]): string {
  const allowed = kinds.map((kind) => `${kind}-src 'self'`);
  const refused = ["base-uri", "form-action", "frame-ancestors"].map((name) => `${name} 'none'`);
  return ["default-src 'none'", ...allowed, ...refused].join("; ");
}

/** Fields of a page, which caches revalidate on each use. */
export const PAGE_FIELDS = {
  "content-security-policy": pagePolicy("script", "style", "img", "connect", "worker", "manifest"),
  "referrer-policy": "no-referrer",
  "cache-control": "no-cache",
} as const;

/** Returns `Vary`: the request fields on which responses depend. */
export function varyOf({ corsOrigins }: Pick<HttpSettings, "corsOrigins">): string {
  return corsOrigins === "*" ? "Accept-Encoding" : "Accept-Encoding, Origin";
}

/**
 * Sends the page in a content coding that the client accepts, or 304. Adds `Vary`; the caller sets
 * all other fields first.
 */
export function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  body: Representation,
  vary: string,
): FastifyReply {
  return sendReady(reply.header("vary", vary), readyAnswer(body, [], request.raw));
}
