import type { IncomingMessage } from "node:http";
import type { FastifyReply } from "fastify";
import { chooseCoding } from "./accept-encoding.ts";
import type { ReadyFields } from "./ready-fields.ts";
import type { Representation } from "./representation.ts";

export interface ReadyAnswer {
  readonly status: 200 | 304;
  /** No field name occurs in two of them. */
  readonly fields: readonly ReadyFields[];
  /** Absent if only the head is sent. */
  readonly body: Buffer | undefined;
}

/** Returns the response to GET or HEAD in the client's coding, or 304, each with `fields`. */
export function readyAnswer(
  body: Representation,
  fields: readonly ReadyFields[],
  { headers, method }: Pick<IncomingMessage, "headers" | "method">,
): ReadyAnswer {
  const coding = body.codingFor(chooseCoding(headers["accept-encoding"]));
  const known = headers["if-none-match"];
  if (known !== undefined && matchesEtag(known, body.etag(coding))) {
    return { status: 304, fields: [...fields, body.tag(coding)], body: undefined };
  }
  const form = body.form(coding);
  return { status: 200, fields: [...fields, form.fields], body: method === "HEAD" ? undefined : form.bytes };
}

/** Sends the response through the framework. Its fields replace those of the same name. */
export function sendReady(reply: FastifyReply, { status, fields, body }: ReadyAnswer): FastifyReply {
  for (const ready of fields) reply.headers(ready.fields);
  return body ? reply.code(status).send(body) : reply.code(status).send();
}

const ENTITY_TAG = /(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")/g;

/** True if `If-None-Match` names `etag`: `*`, or weakly equal (RFC 9110, 13.1.2). */
export function matchesEtag(field: string, etag: string): boolean {
  if (field === etag || field.trim() === "*") return true;
  for (const [, tag] of field.matchAll(ENTITY_TAG)) if (tag === etag) return true;
  return false;
}
