import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { checkHost, lookupPublic, lookupPublicOfVisitor } from "./public-address.ts";

interface HttpPost {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
  readonly allowPrivateAddresses: boolean;
  /** Whether a visitor chose the URL, and not the operator. Default: false. */
  readonly isOfVisitor?: boolean;
  /** Timeout of the whole attempt, from name lookup to the last byte that is read. */
  readonly timeoutMs: number;
  /** Maximum bytes of the response's body to read. Default: 0. */
  readonly maxBodyBytes?: number;
  readonly signal: AbortSignal;
}

/**
 * The result of an attempt. `retryAfter`: the raw header. `body`: the first bytes of the response's
 * body, if `maxBodyBytes` is set.
 */
export type HttpAnswer =
  | {
      readonly kind: "answered";
      readonly status: number;
      readonly retryAfter: string | undefined;
      readonly body?: string;
    }
  | { readonly kind: "failed"; readonly reason: string };

/** Posts once; never rejects. Follows no redirects, which could lead to a forbidden address. */
export function postHttp(post: HttpPost): Promise<HttpAnswer> {
  const url = new URL(post.url);
  const timeout = AbortSignal.timeout(post.timeoutMs);
  return new Promise((resolve) => {
    const fail = (error: unknown) => resolve({ kind: "failed", reason: reasonOf(error, post, timeout) });
    try {
      if (!post.allowPrivateAddresses) checkHost(url.hostname);
      const request = (url.protocol === "https:" ? requestHttps : requestHttp)(url, {
        method: "POST",
        headers: { ...post.headers, "content-length": String(Buffer.byteLength(post.body)) },
        // A new connection each time: receivers close idle ones at bad moments.
        agent: false,
        signal: AbortSignal.any([timeout, post.signal]),
        ...(post.allowPrivateAddresses
          ? {}
          : { lookup: post.isOfVisitor ? lookupPublicOfVisitor : lookupPublic }),
      });
      request.on("response", (response) => {
        const { statusCode = 0, headers } = response;
        const answer = { kind: "answered", status: statusCode, retryAfter: headers["retry-after"] } as const;
        if (!post.maxBodyBytes) {
          // The status is enough; the body may be endless.
          response.on("error", () => {});
          response.destroy();
          resolve(answer);
        } else readStart(response, post.maxBodyBytes, (body) => resolve({ ...answer, body }));
      });
      request.on("error", fail);
      // A protocol upgrade, for example, ends the request without a response or an error.
      request.on("close", () => fail(new Error("the receiver closed the connection without a response")));
      request.end(post.body);
    } catch (error) {
      fail(error);
    }
  });
}

/** Passes the first bytes of a body to `done`, even if the body breaks off. */
function readStart(response: IncomingMessage, maxBytes: number, done: (body: string) => void): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  response.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= maxBytes) response.destroy();
  });
  response.on("error", () => {});
  response.on("close", () => done(Buffer.concat(chunks).subarray(0, maxBytes).toString()));
}

function reasonOf(error: unknown, { timeoutMs }: HttpPost, timeout: AbortSignal): string {
  if (timeout.aborted) return `no response within ${timeoutMs} ms`;
  if (!(error instanceof Error)) return String(error);
  const code = "code" in error ? `${String(error.code)}: ` : "";
  return `${code}${error.message}`;
}
