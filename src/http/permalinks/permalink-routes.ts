import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { HistoryReader } from "../../history/index.ts";
import { BoundedMap } from "../../lib/bounded-map.ts";
import { MINUTE_MS } from "../../lib/time/time.ts";
import { type FlareRecord, GROUPS } from "../../model/index.ts";
import { ERROR_CODES, FlarewireError, type Plan, snapshotOfPlan } from "../../protocol/index.ts";
import { allowAll } from "../access/access.ts";
import { html } from "../docs/html.ts";
import { flareText } from "../history/history-routes.ts";
import type { PageFile } from "../pages/built-pages.ts";
import { PAGE_FIELDS, varyOf } from "../pages/send-page.ts";
import { noDataYet } from "../problems/no-data-yet.ts";
import { RETRY_AFTER_S } from "../problems/problem.ts";
import type { ResourceParts } from "../rest/prepared-routes.ts";
import { readyAnswer, sendReady } from "../rest/ready-answer.ts";
import { Representation, versionOf } from "../rest/representation.ts";
import { flarePage } from "./flare-page.ts";
import { fillTemplate, type PageText } from "./page-template.ts";
import { findToken, tokenPage } from "./token-page.ts";

interface PermalinkParts extends ResourceParts {
  readonly history: HistoryReader;
  readonly pages: ReadonlyMap<string, PageFile>;
}

/** Pages with their compressed forms, about 10 kB each. */
const MAX_CACHED = 64;
/** Finished flares on the page of a token. */
const MAX_PAST = 30;
/** The picture shows prices from this long before the start, and after it at least as far. */
const BEFORE_MS = 30 * MINUTE_MS;
const AFTER_MS = 60 * MINUTE_MS;

/** Failures that a visitor sees as a page. Others are problems, as everywhere. */
const FAILURES: Readonly<Partial<Record<string, string>>> = {
  "not-found": "Nothing is stored here",
  unauthorized: "A key is needed",
  "not-ready": "No data yet",
};

/**
 * Adds `/flare/{id}` and `/token/{group}/{address}`: pages that need no script. They show what the
 * API returns for the visitor's plan.
 */
export function addPermalinkRoutes(scope: FastifyInstance, parts: PermalinkParts): void {
  const { history, policy = allowAll, head, freshness, settings } = parts;
  const template = parts.pages.get("permalink.html")?.body.bytes.toString();
  const cached = new BoundedMap<string, Representation>(MAX_CACHED);
  const vary = `${varyOf(settings)}${policy.isKeyed ? ", Authorization" : ""}`;
  const add = (path: string, root: string, read: Read) => {
    scope.route({
      method: ["GET", "HEAD"],
      url: path,
      handler: async (request, reply) => {
        if (template === undefined)
          throw new FlarewireError("not-found", "the dashboard is not built: npm ci builds it");
        const fill = (text: PageText, url: string | undefined) =>
          represent(fillTemplate(template, text, { root, url }), cached);
        try {
          const { plan } = policy.admit(request, reply);
          if (!head.ready) throw noDataYet(freshness());
          const text = await read(request, plan, root);
          const body = fill(text, urlOf(request));
          return sendReady(reply.headers({ ...PAGE_FIELDS, vary }), readyAnswer(body, [], request.raw));
        } catch (error) {
          const failed = failureText(error, request, root);
          if (!failed) throw error;
          return sendFailure(reply, failed, fill(failed.text, undefined), vary);
        }
      },
    });
  };
  add("/flare/:id", "../", async ({ params }, plan, root) => {
    const { id } = params as { readonly id: string };
    // In this order: a flare that finishes meanwhile moves from the first to the second.
    const [started, stored] = await Promise.all([history.started(id), history.find(id)]);
    const text = flareText(id, snapshotOfPlan(head.snapshot, plan), started ?? null, stored);
    const record = JSON.parse(text) as FlareRecord;
    const { token, started_trending_at, finished_trending_at } = record.flare;
    const startMs = Date.parse(started_trending_at);
    const endMs = finished_trending_at === null ? head.observedAtMs : Date.parse(finished_trending_at);
    const candles = await history.candles({
      group: "bsc",
      address: token.address,
      fromMs: startMs - BEFORE_MS,
      toMs: Math.max(endMs, startMs + AFTER_MS),
    });
    return flarePage(record, candles, root);
  });
  add("/token/:group/:address", "../../", async ({ params }, plan, root) => {
    const { group: name, address } = params as { readonly group: string; readonly address: string };
    const group = GROUPS.find((known) => known === name);
    const found = group === "bsc" ? await history.page({ address, limit: MAX_PAST }) : [];
    const stored = found.map(({ body }) => JSON.parse(body) as FlareRecord);
    const shown = snapshotOfPlan(head.snapshot, plan);
    const token = group && findToken(shown, group, address, stored);
    if (!token) throw new FlarewireError("not-found", "no such token is in a list or has a stored flare");
    return tokenPage(token, { group, shown, stored, root });
  });
}

type Read = (request: FastifyRequest, plan: Plan | undefined, root: string) => Promise<PageText>;

/** Returns the page's bytes, compressed only once while many visitors follow one link. */
function represent(page: string, cached: BoundedMap<string, Representation>): Representation {
  const version = versionOf(page);
  return cached.ensure(
    version,
    () => new Representation(Buffer.from(page), version, "text/html; charset=utf-8"),
  );
}

/** Returns the page's URL as the visitor asked for it, without its query. */
function urlOf({ protocol, host, url }: FastifyRequest): string | undefined {
  const text = `${protocol}://${host}${url.split("?", 1)[0]}`;
  return URL.canParse(text) ? new URL(text).href : undefined;
}

interface Failure {
  readonly status: number;
  readonly text: PageText;
}

/** Returns what a browser shows; `undefined` for other clients and failures. */
function failureText(error: unknown, { headers }: FastifyRequest, root: string): Failure | undefined {
  if (!(error instanceof FlarewireError) || !/\btext\/html\b/i.test(headers.accept ?? "")) return undefined;
  const title = FAILURES[error.code];
  if (title === undefined) return undefined;
  const { status, meaning } = ERROR_CODES[error.code];
  const main = html`<h1>${title}</h1>
<p class="lead">The flare or token may be too old, or not visible without a key.</p>
<p class="links"><a class="primary" href="${root}">Open the dashboard</a></p>`;
  return { status, text: { title, description: meaning, main } };
}

function sendFailure(
  reply: FastifyReply,
  { status }: Failure,
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
