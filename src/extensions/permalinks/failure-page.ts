import type { FastifyReply, FastifyRequest } from "fastify";
import { tokenPath } from "../../base/lib/text/page-path.ts";
import { ERROR_CODES, FlarewireError } from "../../base/protocol/index.ts";
import { RETRY_AFTER_S, type Representation } from "../../gateway/http/index.ts";
import { html, PAGE_FIELDS } from "../pages/index.ts";
import type { PageText } from "./page-template.ts";

/** Failures that are sent to browsers as a page. Others are sent as a problem. */
const FAILURES: Readonly<Partial<Record<string, readonly [title: string, lead: string]>>> = {
  "not-found": [
    "Nothing is stored here",
    "The flare or token may be too old, or not visible without a key. Make sure that the link is complete.",
  ],
  unauthorized: [
    "This page needs a key",
    "The server shows its flares and tokens only to people with a key, and a link cannot carry one. The operator of this server issues keys. If you have one, enter it in the dashboard.",
  ],
  "not-ready": [
    "No data yet",
    "The server has just started, or cannot reach its market. Try again in a minute.",
  ],
};

interface FailurePage {
  readonly status: number;
  readonly text: PageText;
}

/** Returns the page for a browser; `undefined` for other clients and failures. */
export function failurePage(
  error: unknown,
  { headers, params }: FastifyRequest,
  root: string,
): FailurePage | undefined {
  if (!(error instanceof FlarewireError) || !/\btext\/html\b/i.test(headers.accept ?? "")) return undefined;
  const [title, lead] = FAILURES[error.code] ?? [];
  if (title === undefined || lead === undefined) return undefined;
  const { status, meaning } = ERROR_CODES[error.code];
  const isKeyless = error.code === "unauthorized";
  const main = html`<h1>${title}</h1>
<p class="lead">${lead}</p>
<p class="links"><a class="primary" href="${root}${isKeyless ? dashboardHash(params) : ""}">Open the dashboard</a>
${isKeyless ? html`<a href="${root}docs/operating#keys">What a key is</a>` : html``}</p>`;
  return { status, text: { title, description: meaning, main } };
}

/**
 * Returns the hash of the dashboard's page for the requested token; empty if the path names none.
 */
function dashboardHash(params: unknown): string {
  const { group, token } = params as { readonly group?: string; readonly token?: string };
  return group !== undefined && token !== undefined ? `#/${tokenPath(group, token)}` : "";
}

export function sendFailurePage(
  reply: FastifyReply,
  { status }: FailurePage,
  body: Representation,
  vary: string,
): FastifyReply {
  if (status === 503) reply.header("retry-after", String(RETRY_AFTER_S));
  return reply
    .code(status)
    .headers({ ...PAGE_FIELDS, vary: `Accept, ${vary}`, "cache-control": "no-store" })
    .type("text/html; charset=utf-8")
    .send(body.bytes);
}
