import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { BoundedMap } from "../../base/lib/bounded-map.ts";
import { flarePath, tokenPath } from "../../base/lib/text/page-path.ts";
import { MINUTE_MS } from "../../base/lib/time/time.ts";
import { type FlareRecord, groupOf, type TokenDetails, tokenOf } from "../../base/model/index.ts";
import { FlarewireError, type Rights } from "../../base/protocol/index.ts";
import {
  allowAll,
  type HttpSettings,
  matchesEtag,
  noDataYet,
  PNG_TYPE,
  Representation,
  type ResourceContext,
  readyAnswer,
  sendReady,
  shownTo,
  versionOf,
} from "../../gateway/http/index.ts";
import { channelsOfToken, flareText, type HistoryReader, TokenBodies, withLive } from "../history/index.ts";
import { answerUnbuilt, createAddressOf, PAGE_FIELDS, varyOf } from "../pages/index.ts";
import { failurePage, sendFailurePage } from "./failure-page.ts";
import { flarePage, flarePicture } from "./flare-page.ts";
import { fillTemplate, type PageText, PICTURE_PATH } from "./page-template.ts";
import { Pictures } from "./picture/pictures.ts";
import type { ShareFacts } from "./picture/share-picture.ts";
import { tokenKey, tokenPage, tokenPicture } from "./token-page.ts";

interface PermalinkDependencies extends ResourceContext {
  readonly history: HistoryReader;
  readonly pages: ReadonlyMap<string, Representation>;
  readonly settings: HttpSettings;
  /**
   * Draws the pictures, and is closed with the scope. Default: {@link Pictures} with its defaults.
   */
  readonly pictures?: Pictures | undefined;
}

/** Maximum cached pages. Each takes about 10 kB with its compressed forms. */
const MAX_CACHED = 64;
/** Prices are shown from this long before the start. */
const BEFORE_MS = 30 * MINUTE_MS;
/** Prices are shown until at least this long after the start. */
const AFTER_MS = 60 * MINUTE_MS;

/** A page and a picture take as much of the processor as this many small responses. */
const [PAGE_COST, PICTURE_COST] = [4, 40];

const TOKEN_PATH = "/token/:group/:token";

const MARKETS = { live: undefined, recorded: "Recorded market", simulated: "Simulated market" } as const;

/** A flare or token that a visitor's plan shows, as a page and as a picture. */
interface Subject {
  /** Path of its canonical address, relative to the root. */
  readonly path: string;
  readonly isCanonical: boolean;
  readonly page: (root: string) => PageText;
  readonly picture: () => ShareFacts;
}

/** Reads what the API returns for these rights. Rejects with `not-found` or `forbidden`. */
type Read = (request: FastifyRequest, rights: Rights) => Promise<Subject>;

/**
 * Adds the pages `/flare/{id}` and `/token/{group}/{address}`, which need no script, and the
 * picture of each. They show what the API returns for the visitor's plan.
 */
export function addPermalinkRoutes(scope: FastifyInstance, dependencies: PermalinkDependencies): void {
  const { history, policy = allowAll, head, freshness, info, settings } = dependencies;
  const { pictures = new Pictures() } = dependencies;
  scope.addHook("onClose", () => pictures.close());
  const template = dependencies.pages.get("permalink.html")?.bytes.toString();
  const cached = new BoundedMap<string, Representation>(MAX_CACHED);
  const vary = `${varyOf(settings)}${policy.isKeyed ? ", Authorization" : ""}`;
  const tokens = new TokenBodies({ head, history });
  const addressOf = createAddressOf(settings);
  const market = () => MARKETS[info().origin];
  const readSubject = (request: FastifyRequest, reply: FastifyReply, read: Read) => {
    const rights = policy.admit(request, reply);
    if (!head.ready) throw noDataYet(freshness());
    return read(request, rights);
  };
  const addPage = (path: string, root: string, read: Read) => {
    const handler = async (request: FastifyRequest, reply: FastifyReply) => {
      if (template === undefined) {
        if (answerUnbuilt(request, reply, settings.basePath)) return reply;
        throw new FlarewireError("not-found", "the dashboard is not built: npm run pages builds it");
      }
      const fill = (text: PageText, url: string | undefined) =>
        represent(fillTemplate(template, text, { root, url, alt: text.title }), cached);
      try {
        const subject = await readSubject(request, reply, read);
        // Temporary (307), because the symbol may soon belong to another token, or to two.
        if (!subject.isCanonical)
          return reply.headers({ "cache-control": "no-store" }).redirect(`${root}${subject.path}`, 307);
        const address = addressOf(request);
        const body = fill(subject.page(root), address && `${address}/${subject.path}`);
        return sendReady(reply.headers({ ...PAGE_FIELDS, vary }), readyAnswer(body, [], request.raw));
      } catch (error) {
        const failed = failurePage(error, request, root);
        if (!failed) throw error;
        return sendFailurePage(reply, failed, fill(failed.text, undefined), vary);
      }
    };
    scope.route({ method: ["GET", "HEAD"], url: path, config: configOf(path, PAGE_COST), handler });
  };
  const addPicture = (path: string, read: Read) => {
    const handler = async (request: FastifyRequest, reply: FastifyReply) => {
      const facts = (await readSubject(request, reply, read)).picture();
      const version = versionOf(JSON.stringify(facts));
      const fields = { ...PAGE_FIELDS, vary, etag: `"${version}"` };
      const known = request.headers["if-none-match"];
      // The version comes from the facts, so the picture need not be drawn.
      if (known !== undefined && matchesEtag(known, fields.etag))
        return reply.code(304).headers(fields).send();
      const body = new Representation(await pictures.draw(version, facts), version, PNG_TYPE);
      return sendReady(reply.headers(fields), readyAnswer(body, [], request.raw));
    };
    const config = configOf(path, PICTURE_COST);
    scope.route({ method: ["GET", "HEAD"], url: `${path}${PICTURE_PATH}`, config, handler });
  };
  const readFlare: Read = async ({ params }, rights) => {
    const { id } = params as { readonly id: string };
    // In this order: a flare that finishes meanwhile moves from the first to the second.
    const [started, stored] = await Promise.all([history.started(id), history.find(id)]);
    const shown = shownTo(head.snapshot, rights.plan);
    const text = flareText(id, shown, started ?? null, stored, rights);
    const record = JSON.parse(text) as FlareRecord;
    const { started_trending_at, finished_trending_at } = record.flare;
    const startMs = Date.parse(started_trending_at);
    const endMs = finished_trending_at === null ? head.observedAtMs : Date.parse(finished_trending_at);
    const group = groupOf(record.flare);
    const address = tokenOf(record.flare);
    const fromMs = startMs - BEFORE_MS;
    const toMs = Math.max(endMs, startMs + AFTER_MS);
    const past = await history.candles({ group, address, fromMs, toMs });
    // The newest minutes of running flares may not be stored yet.
    const all = endMs < head.observedAtMs ? past : withLive(past, group, record.flare.token.address, shown);
    const candles = all.filter(({ open_at }) => Date.parse(open_at) >= fromMs);
    return {
      path: flarePath(record.flare.id),
      isCanonical: true,
      page: (root) => flarePage(record, candles, { root, market: market() }),
      picture: () => flarePicture(record, candles, market()),
    };
  };
  const readToken: Read = async ({ params }, { plan }) => {
    const path = params as { readonly group: string; readonly token: string };
    const shown = shownTo(head.snapshot, plan);
    const body = (await tokens.read(path, shown))(shown);
    const details = JSON.parse(body.bytes.toString()) as TokenDetails;
    const nowMs = head.observedAtMs;
    const key = tokenKey(details);
    return {
      path: tokenPath(details.group, key),
      isCanonical: path.token === key,
      page: (root) => tokenPage(details, nowMs, { root, market: market() }),
      picture: () => tokenPicture(details, nowMs, market()),
    };
  };
  addPage("/flare/:id", "../", readFlare);
  addPicture("/flare/:id", readFlare);
  addPage(TOKEN_PATH, "../../", readToken);
  addPicture(TOKEN_PATH, readToken);
}

const configOf = (path: string, cost: number) => ({
  contract: path === TOKEN_PATH ? { channels: channelsOfToken, cost } : { cost },
});

/** Returns equal pages from the cache, so that each is compressed only once for many visitors. */
function represent(page: string, cached: BoundedMap<string, Representation>): Representation {
  const version = versionOf(page);
  return cached.ensure(
    version,
    () => new Representation(Buffer.from(page), version, "text/html; charset=utf-8"),
  );
}
