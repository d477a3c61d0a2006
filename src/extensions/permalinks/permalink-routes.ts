import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { BoundedMap } from "../../base/lib/bounded-map.ts";
import { FlarewireError } from "../../base/protocol/index.ts";
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
  versionOf,
} from "../../gateway/http/index.ts";
import { channelsOfToken, type HistoryReader } from "../history/index.ts";
import {
  answerUnbuilt,
  createAddressOf,
  loadRenderer,
  PAGE_FIELDS,
  type PageRenderer,
  varyOf,
} from "../pages/index.ts";
import { failurePage, sendFailurePage } from "./failure-page.ts";
import { fillTemplate, type PageText, PICTURE_PATH } from "./page-template.ts";
import { Pictures } from "./picture/pictures.ts";
import { createSubjects, type Read } from "./subjects.ts";

interface PermalinkDependencies extends ResourceContext {
  readonly history: HistoryReader;
  readonly pages: ReadonlyMap<string, Representation>;
  readonly settings: HttpSettings;
  /**
   * Draws the pictures, and is closed with the scope. Default: {@link Pictures} with its defaults.
   */
  readonly pictures?: Pictures | undefined;
  /** Loads the renderer, again for each page. Default: {@link loadRenderer}. */
  readonly load?: (() => Promise<PageRenderer>) | undefined;
}

/** Maximum cached pages. Each takes about 10 kB with its compressed forms. */
const MAX_CACHED = 64;
/** A page and a picture take as much of the processor as this many small responses. */
const [PAGE_COST, PICTURE_COST] = [4, 40];

const TOKEN_PATH = "/token/:group/:token";

/**
 * Adds the pages `/flare/{id}` and `/token/{group}/{address}`, which need no script, and the
 * picture of each. They show what the API returns for the visitor's plan.
 */
export function addPermalinkRoutes(scope: FastifyInstance, dependencies: PermalinkDependencies): void {
  const { history, policy = allowAll, head, freshness, info, settings } = dependencies;
  const { pictures = new Pictures(), load = loadRenderer } = dependencies;
  scope.addHook("onClose", () => pictures.close());
  const template = dependencies.pages.get("permalink.html")?.bytes.toString();
  const cached = new BoundedMap<string, Representation>(MAX_CACHED);
  const vary = `${varyOf(settings)}${policy.isKeyed ? ", Authorization" : ""}`;
  const addressOf = createAddressOf(settings);
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
        const text = subject.page(root, await load());
        const body = fill(text, address && `${address}/${subject.path}`);
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
  const { readFlare, readToken } = createSubjects({ history, head, info });
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
