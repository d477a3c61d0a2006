import type { FastifyReply, FastifyRequest } from "fastify";
import { chooseCoding } from "./accept-encoding.ts";
import { namesEtag } from "./if-none-match.ts";
import type { Representation } from "./representation.ts";

/** Answers GET and HEAD with bytes that change with their version only: 304 to whoever has them, else in the coding that was asked for. The type is set before. */
export function answerWith(request: FastifyRequest, reply: FastifyReply, body: Representation): FastifyReply {
  const coding = body.codingFor(chooseCoding(request.headers["accept-encoding"]));
  const etag = body.etag(coding);
  reply.header("etag", etag);
  const known = request.headers["if-none-match"];
  if (known !== undefined && namesEtag(known, etag)) {
    return reply.removeHeader("content-type").code(304).send();
  }
  const bytes = body.form(coding);
  reply.header("content-length", String(bytes.length));
  if (coding !== "identity") reply.header("content-encoding", coding);
  return request.method === "HEAD" ? reply.send() : reply.send(bytes);
}
