import type { IncomingMessage } from "node:http";
import { parseJson } from "../parse-json.ts";

interface Refusal {
  readonly status: number;
  /** The received part of the body, up to about 16 KiB; `""` if there is none. */
  readonly body: string;
  /** Requested delay in milliseconds; `undefined` if there is none, or it is 0 or a date. */
  readonly retryAfterMs: number | undefined;
}

/** Maximum length of a detail, because it ends up in logs. */
const MAX_DETAIL = 300;

/** Returns a problem's `detail`, else `title` (RFC 9457), at most 300 characters; else `""`. */
export function problemDetail(body: string): string {
  const { detail, title }: { readonly detail?: unknown; readonly title?: unknown } = Object(parseJson(body));
  const [found = ""] = [detail, title].filter((text) => typeof text === "string");
  return found.slice(0, MAX_DETAIL);
}

/** Problems are short. A server that sends more than this is broken or malicious. */
const MAX_BODY_BYTES = 16_384;

/** Reads a refusal. Never rejects: a broken connection yields what was received. */
export async function readRefusal(response: IncomingMessage): Promise<Refusal> {
  const asked = Number(response.headers["retry-after"]);
  let body = "";
  try {
    for await (const chunk of response.setEncoding("utf8")) {
      body += chunk;
      if (body.length > MAX_BODY_BYTES) break;
    }
  } catch {
    // The status alone must suffice.
  }
  const retryAfterMs = Number.isFinite(asked) && asked > 0 ? asked * 1_000 : undefined;
  return { status: response.statusCode ?? 0, body, retryAfterMs };
}
