import type { IncomingMessage } from "node:http";
import type { FastifyReply } from "fastify";
import { chooseCoding } from "./accept-encoding.ts";
import { matchesEtag } from "./if-none-match.ts";
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
