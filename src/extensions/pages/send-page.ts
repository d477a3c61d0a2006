import type { FastifyReply, FastifyRequest } from "fastify";
import type { HttpSettings } from "../../gateway/http/http-settings.ts";
import { readyAnswer, sendReady } from "../../gateway/http/rest/ready-answer.ts";
import type { Representation } from "../../gateway/http/rest/representation.ts";

/** Allows files from this server, requests and streams to it, and nothing inline. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Fields of a page, which caches revalidate on each use. */
export const PAGE_FIELDS = {
  "content-security-policy": PAGE_POLICY,
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
