import { readFileSync } from "node:fs";
import { setImmediate as turn } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import { BoundedMap } from "../../../base/lib/bounded-map.ts";
import {
  type HttpSettings,
  type Representation,
  type RouteRules,
  readyAnswer,
  readyFields,
  represent,
  sendReady,
} from "../../../gateway/http/index.ts";
import type { ExtensionContext } from "../../../gateway/start/index.ts";
import { createAddressOf, DOCUMENT_FIELDS, type Html, html, varyOf } from "../../pages/index.ts";
import { asyncApiServers, createAsyncApi } from "../contracts/asyncapi.ts";
import { createOpenApi, inOrder, type OpenApiDocument, openApiServers } from "../contracts/openapi.ts";
import { createSchemas } from "../contracts/schemas.ts";
import { DOCUMENTS } from "./documents.ts";
import { eventsPage } from "./events-page.ts";
import { GUIDES, guideHref, markdownPath, PROTOCOL_FILE, TEXTS, TUTORIALS } from "./guides.ts";
import { pageHtml, type Site } from "./layout.ts";
import { llmsText } from "./llms-text.ts";
import { markdown, resolveLinks } from "./markdown.ts";
import { operationPage } from "./rest/operation-page.ts";
import { OPERATION_PAGES, operationsOf } from "./rest/operations.ts";
import { restPage } from "./rest/rest-page.ts";
import { searchIndex } from "./search-index.ts";

type DocumentName = keyof typeof DOCUMENTS;

/**
 * Serves the contracts, the guides, their search index and `llms.txt`, of all routes that the
 * server has at the first request. Each document is made once, at its first request, in slices.
 * Returns a function that makes the larger ones before, until the signal aborts.
 */
export function addDocumentRoutes(
  scope: FastifyInstance,
  settings: Pick<HttpSettings, "basePath" | "corsOrigins" | "publicUrl" | "allowedHosts">,
  { isKeyed, anonymous }: Pick<ExtensionContext["policy"], "isKeyed" | "anonymous">,
): (signal: AbortSignal) => Promise<void> {
  const { basePath } = settings;
  const needs = !isKeyed ? "nothing" : anonymous ? "key for pro" : "key";
  const site: Site = { basePath, contracts: scope.routeContracts, needs };
  const describe = once(async () => {
    const schemas = createSchemas("draft-2020-12", inOrder(site.contracts));
    await turn();
    return createOpenApi(basePath, site.contracts, undefined, schemas);
  });
  const vary = varyOf(settings);
  const addressOf = createAddressOf(settings);
  let last: Promise<unknown> = Promise.resolve();
  /** Makes one document after another, with turns for others in between. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = last.then(work);
    last = mine.catch(() => {}).then(() => turn());
    return mine;
  };
  /** `serversAt`: makes the part of a contract that names the server. Returns a reader by path. */
  const add = (path: string, type: string, make: Make, contract: RouteRules = {}, serversAt?: ServersAt) => {
    const made = new Map<string, Promise<Representation | undefined>>();
    const fields = readyFields({
      "cache-control": "no-cache",
      vary,
      ...(type === "text/html" ? DOCUMENT_FIELDS : {}),
    });
    const at = serversAt && createPlacer(serversAt, basePath);
    const represented = async (key: string) => {
      const text = await make(key);
      if (text === undefined) return undefined;
      await turn();
      const document = represent(text, `${type}; charset=utf-8`);
      // What browsers ask for. It takes as long as making the document.
      document.form("br");
      return document;
    };
    const read = async (key: string) => {
      const making = made.get(key) ?? inTurn(() => represented(key));
      made.set(key, making);
      const document = await making.catch((error: unknown) => {
        made.delete(key);
        throw error;
      });
      // Anybody can ask for any name.
      if (!document) made.delete(key);
      return document;
    };
    scope.route({
      method: ["GET", "HEAD"],
      url: path,
      config: { contract },
      handler: async (request, reply) => {
        const found = await read(pathIn(path, request.params));
        if (!found) return reply.callNotFound();
        const document = at?.(found, addressOf(request)) ?? found;
        return sendReady(reply, readyAnswer(document, [fields], request.raw));
      },
    });
    if (type !== "text/html") return read;
    scope.route({
      method: ["GET", "HEAD"],
      url: `${path}/`,
      handler: (request, reply) => reply.redirect(`${basePath}${pathIn(path, request.params)}`, 308),
    });
    return read;
  };
  const makers = createMakers(site, describe);
  const servers: Partial<Record<DocumentName, ServersAt>> = {
    openapi: openApiServers,
    asyncapi: asyncApiServers,
  };
  const prepared = (Object.keys(DOCUMENTS) as DocumentName[]).map((name) => {
    const { path, type } = DOCUMENTS[name];
    const read = add(path, type, makers[name], DOCUMENTS[name], servers[name]);
    return () => read(path);
  });
  for (const { path, file, title } of GUIDES)
    add(path, "text/html", () => guidePage(site, path, title, file));
  // Their samples call the reader's own server.
  for (const { path, file, title } of TUTORIALS)
    add(path, "text/html", () => guidePage(site, path, title, file).replaceAll(`"sample"`, `"sample own"`));
  for (const { path, file } of TEXTS)
    add(markdownPath(path), "text/markdown", () => guideText(basePath, file));
  add(`${OPERATION_PAGES}:name`, "text/html", async (path) => {
    const document = await describe();
    const found = operationsOf(document, site.contracts).find(({ page }) => page === path);
    return found && operationPage(site, found, document);
  });
  return async (signal) => {
    for (const read of prepared) {
      if (signal.aborted) return;
      await read();
    }
  };
}

/** Returns the document by its path; `undefined` if nothing is there. */
type Make = (path: string) => string | undefined | Promise<string | undefined>;

/** Makes the part of a contract that names the server. Default of `address`: unknown. */
type ServersAt = (basePath: string, address?: string) => unknown;

/** Addresses for which a contract is kept. A stranger can invent any number. */
const MAX_ADDRESSES = 8;

/**
 * Creates a function that returns a contract, made without an address, with the server's address.
 * It replaces only the part that names the server.
 */
function createPlacer(serversAt: ServersAt, basePath: string) {
  const placed = new BoundedMap<string, Representation>(MAX_ADDRESSES);
  // Compressing a contract as a document takes over ten times as long as compressing it as data.
  // So only the first addresses get it.
  let thorough = MAX_ADDRESSES;
  const part = (address?: string) => `"servers":${JSON.stringify(serversAt(basePath, address))}`;
  return (contract: Representation, address: string | undefined): Representation => {
    if (address === undefined) return contract;
    return placed.ensure(address, () => {
      const text = contract.bytes.toString().replace(part(), () => part(address));
      thorough -= 1;
      return represent(text, thorough >= 0 ? "application/json; charset=utf-8" : undefined);
    });
  };
}

/** Returns a function that calls `make` at its first call only. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}

/** Fills the part `:name` of a route's path, which only the path of operations has. */
function pathIn(path: string, params: unknown): string {
  const { name = "" }: { readonly name?: string } = Object(params);
  return path.replace(":name", encodeURIComponent(name));
}

function createMakers(
  site: Site,
  describe: () => Promise<OpenApiDocument>,
): Readonly<Record<DocumentName, Make>> {
  const { basePath } = site;
  const describeEvents = once(async () => {
    const schemas = createSchemas("draft-7");
    await turn();
    return createAsyncApi(basePath, undefined, schemas);
  });
  const { docsProtocol, docsGuides } = DOCUMENTS;
  return {
    openapi: async () => JSON.stringify(await describe()),
    asyncapi: async () => JSON.stringify(await describeEvents()),
    docs: async () => restPage(site, await describe()),
    docsEvents: async () => eventsPage(site, await describeEvents()),
    docsProtocol: () => guidePage(site, docsProtocol.path, "Protocol", PROTOCOL_FILE),
    docsGuides: () => pageHtml(site, docsGuides.path, "Guides", guidesHtml(basePath)),
    docsSearch: async () => {
      const [openapi, asyncapi] = [await describe(), await describeEvents()];
      return JSON.stringify(await searchIndex(site, openapi, asyncapi, guidePages(basePath), turn));
    },
    llms: () => llmsText(site),
    docsScript: () => ["page", "samples", "search"].map((name) => readText(`./assets/${name}.js`)).join("\n"),
    docsStyle: () =>
      ["../../../clients/style/tokens", "./assets/page", "./assets/samples"]
        .map((name) => readText(`${name}.css`))
        .join("\n"),
  };
}

function guidePage(site: Site, page: string, title: string, file: string): string {
  return pageHtml(site, page, title, guideBody(site.basePath, file));
}

function guideBody(basePath: string, file: string): Html {
  return markdown(readGuide(file), (link) => guideHref(basePath, file, link));
}

/** Returns the document as Markdown. Links lead to Markdown too. */
function guideText(basePath: string, file: string): string {
  return resolveLinks(readGuide(file), (link) => guideHref(basePath, file, link, markdownPath));
}

function* guidePages(basePath: string) {
  for (const { path, title, file } of TEXTS) yield { path, title, body: guideBody(basePath, file) };
}

/** Reads a document of the repository. Its relative path is the same from `dist` as from `src`. */
function readGuide(file: string): string {
  return readText(`../../../../${file}`);
}

function guidesHtml(basePath: string): Html {
  const items = [...TUTORIALS, ...GUIDES].map(
    ({ path, title, summary }) => html`<li><a href="${basePath}${path}">${title}</a> ${summary}</li>\n`,
  );
  return html`<h1>Guides</h1>\n<ul>\n${items}</ul>`;
}

function readText(path: string): string {
  return readFileSync(new URL(path, import.meta.url), "utf8");
}
