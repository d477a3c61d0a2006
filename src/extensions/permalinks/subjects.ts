import type { FastifyRequest } from "fastify";
import { flarePath, tokenPath } from "../../base/lib/text/page-path.ts";
import { MINUTE_MS } from "../../base/lib/time/time.ts";
import {
  type FlareRecord,
  groupOf,
  type Snapshot,
  type TokenDetails,
  tokenOf,
} from "../../base/model/index.ts";
import type { Rights } from "../../base/protocol/index.ts";
import { type ResourceContext, shownTo } from "../../gateway/http/index.ts";
import { type HistoryReader, flareText as recordText, TokenBodies, withLive } from "../history/index.ts";
import { kindOf, type PageRenderer } from "../pages/index.ts";
import { flarePicture, flareText } from "./flare-facts.ts";
import { livePage, withFlare } from "./live-page.ts";
import type { PageText } from "./page-template.ts";
import type { ShareFacts } from "./picture/share-picture.ts";
import { tokenKey, tokenPicture, tokenText } from "./token-facts.ts";

/** Prices are shown from this long before the start. */
const BEFORE_MS = 30 * MINUTE_MS;
/** Prices are shown until at least this long after the start. */
const AFTER_MS = 60 * MINUTE_MS;

const MARKETS = { live: undefined, recorded: "Recorded market", simulated: "Simulated market" } as const;

/** A flare or token that a visitor's plan shows, as a page and as a picture. */
export interface Subject {
  /** Path of its canonical address, relative to the root. */
  readonly path: string;
  readonly isCanonical: boolean;
  readonly page: (root: string, renderer: PageRenderer) => PageText;
  readonly picture: () => ShareFacts;
}

/** Reads what the API returns for these rights. Rejects with `not-found` or `forbidden`. */
export type Read = (request: FastifyRequest, rights: Rights) => Promise<Subject>;

interface SubjectDependencies extends Pick<ResourceContext, "head" | "info"> {
  readonly history: HistoryReader;
}

/** Creates the functions that read a flare or a token by the parameters of its path. */
export function createSubjects({ history, head, info }: SubjectDependencies) {
  const tokens = new TokenBodies({ head, history });
  const market = () => MARKETS[info().origin];
  const mainOf = (
    options: Omit<Parameters<typeof livePage>[1], "market" | "kind" | "nowMs">,
    by: PageRenderer,
  ) => livePage(by, { ...options, nowMs: head.observedAtMs, market: market(), kind: kindOf(info()) });
  const detailsOf = async (path: { readonly group: string; readonly token: string }, shown: Snapshot) => {
    const body = (await tokens.read(path, shown))(shown);
    return JSON.parse(body.bytes.toString()) as TokenDetails;
  };
  const readFlare: Read = async ({ params }, rights) => {
    const { id } = params as { readonly id: string };
    // In this order: a flare that finishes meanwhile moves from the first to the second.
    const [started, stored] = await Promise.all([history.started(id), history.find(id)]);
    const shown = shownTo(head.snapshot, rights.plan);
    const text = recordText(id, shown, started ?? null, stored, rights);
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
    const known = await detailsOf({ group, token: address }, shown);
    const details = withFlare(known, record, candles);
    return {
      path: flarePath(record.flare.id),
      isCanonical: true,
      page: (root, by) => ({
        ...flareText(record),
        main: mainOf({ details, record, key: address, root }, by),
      }),
      picture: () => flarePicture(record, candles, market()),
    };
  };
  const readToken: Read = async ({ params }, { plan }) => {
    const path = params as { readonly group: string; readonly token: string };
    const shown = shownTo(head.snapshot, plan);
    const details = await detailsOf(path, shown);
    const nowMs = head.observedAtMs;
    const key = tokenKey(details);
    return {
      path: tokenPath(details.group, key),
      isCanonical: path.token === key,
      page: (root, by) => ({ ...tokenText(details), main: mainOf({ details, key, root }, by) }),
      picture: () => tokenPicture(details, nowMs, market()),
    };
  };
  return { readFlare, readToken };
}
