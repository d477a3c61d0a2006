import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { checkHost, lookupPublic } from "./public-address.ts";

/** One attempt. */
export interface WebhookPost {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly allowPrivateAddresses: boolean;
  /** Time for all of it, from the look-up of the name to the answer's head. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** What came of it. `retryAfter`: the header of that name, as it stands. */
export type WebhookAnswer =
  | { readonly kind: "answered"; readonly status: number; readonly retryAfter: string | undefined }
  | { readonly kind: "failed"; readonly reason: string };

/**
 * Posts once. Never rejects: what went wrong is `failed`, with words for the log. Redirects are not followed, so that a receiver cannot send us to where its
 * own address would be refused; the answer's body is not read.
 */
export function postWebhook(post: WebhookPost): Promise<WebhookAnswer> {
  const url = new URL(post.url);
  const late = AbortSignal.timeout(post.timeoutMs);
  return new Promise((resolve) => {
    const fail = (error: unknown) => resolve({ kind: "failed", reason: reasonOf(error, post, late) });
    try {
      if (!post.allowPrivateAddresses) checkHost(url.hostname);
      const request = (url.protocol === "https:" ? requestHttps : requestHttp)(url, {
        method: "POST",
        headers: { ...post.headers, "content-length": String(Buffer.byteLength(post.body)) },
        // A connection of its own for each: there are few, and what is kept open is closed by the other side in the wrong moment.
        agent: false,
        signal: AbortSignal.any([late, post.signal]),
        ...(post.allowPrivateAddresses ? {} : { lookup: lookupPublic }),
      });
      request.on("response", (response) => {
        const { statusCode = 0, headers } = response;
        // Whatever it says, and however long: the status was the answer.
        response.on("error", () => {});
        response.destroy();
        resolve({ kind: "answered", status: statusCode, retryAfter: headers["retry-after"] });
      });
      request.on("error", fail);
      // A switch to another protocol, say, ends the request without an answer and without an error.
      request.on("close", () => fail(new Error("it closed the connection without an answer")));
      request.end(post.body);
    } catch (error) {
      fail(error);
    }
  });
}

function reasonOf(error: unknown, { timeoutMs }: WebhookPost, late: AbortSignal): string {
  if (late.aborted) return `no answer within ${timeoutMs} ms`;
  if (!(error instanceof Error)) return String(error);
  const code = "code" in error ? `${String(error.code)}: ` : "";
  return `${code}${error.message}`;
}
