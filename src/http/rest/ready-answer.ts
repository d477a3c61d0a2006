import type { IncomingMessage } from "node:http";
import type { FastifyReply } from "fastify";
import { chooseCoding } from "./accept-encoding.ts";
import { namesEtag } from "./if-none-match.ts";
import type { ReadyFields } from "./ready-fields.ts";
import type { Representation } from "./representation.ts";

/** An answer whose parts were made before it was asked for. */
export interface ReadyAnswer {
  readonly status: 200 | 304;
  /** No name stands in two of them. */
  readonly fields: readonly ReadyFields[];
  /** Left out where only the head is sent. */
  readonly body: Buffer | undefined;
}

/**
 * What GET or HEAD is answered with: the body in the coding that the client likes best, or 304 to whoever has these bytes, for which no body is
 * looked at or compressed. `fields`: of either, in addition to those of the body.
 */
export function readyAnswer(
  body: Representation,
  fields: readonly ReadyFields[],
  { headers, method }: Pick<IncomingMessage, "headers" | "method">,
): ReadyAnswer {
  const coding = body.codingFor(chooseCoding(headers["accept-encoding"]));
  const known = headers["if-none-match"];
  if (known !== undefined && namesEtag(known, body.etag(coding))) {
    return { status: 304, fields: [...fields, body.tag(coding)], body: undefined };
  }
  const form = body.form(coding);
  return { status: 200, fields: [...fields, form.fields], body: method === "HEAD" ? undefined : form.bytes };
}

/** Sends it through the framework and its hooks. Its fields take the place of those of their names on the reply. */
export function sendReady(reply: FastifyReply, { status, fields, body }: ReadyAnswer): FastifyReply {
  for (const ready of fields) reply.headers(ready.fields);
  return body ? reply.code(status).send(body) : reply.code(status).send();
}
