import type { IncomingMessage } from "node:http";

/** What a server answered in place of what it was asked for. */
export interface Refusal {
  readonly status: number;
  /** As much of the body as came, up to some 16 KiB; `""` where none did. */
  readonly body: string;
  /** How long it asked to be left alone, in milliseconds; `undefined` where it did not, or named a date. */
  readonly retryAfterMs: number | undefined;
}

/** Longest detail that is passed on, in characters: it ends up in logs. */
const MAX_DETAIL = 300;

/** The `detail` of a body that is a problem (RFC 9457), without one its `title`, cut to 300 characters; `""` where it is none. */
export function problemDetail(body: string): string {
  try {
    const { detail, title }: { readonly detail?: unknown; readonly title?: unknown } = Object(
      JSON.parse(body),
    );
    const [told = ""] = [detail, title].filter((text) => typeof text === "string");
    return told.slice(0, MAX_DETAIL);
  } catch {
    return "";
  }
}

/** A problem is short; a server that sends more than this means harm. */
const MAX_BODY_BYTES = 16_384;

/** Reads a refusal. Never rejects: of a connection that breaks off there is the status, and what came. */
export async function readRefusal(response: IncomingMessage): Promise<Refusal> {
  const asked = Number(response.headers["retry-after"]);
  let body = "";
  try {
    for await (const chunk of response.setEncoding("utf8")) {
      body += chunk;
      if (body.length > MAX_BODY_BYTES) break;
    }
  } catch {
    // The status alone must do.
  }
  const retryAfterMs = Number.isFinite(asked) && asked > 0 ? asked * 1_000 : undefined;
  return { status: response.statusCode ?? 0, body, retryAfterMs };
}
