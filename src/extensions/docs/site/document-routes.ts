import { readFileSync } from "node:fs";
import type { FastifyInstance, FastifyRequest } from "fastify";
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
import { createToldAddressOf, DOCUMENT_FIELDS, type Html, html, varyOf } from "../../pages/index.ts";
import { createAsyncApi } from "../contracts/asyncapi.ts";
import { createOpenApi, type OpenApiDocument } from "../contracts/openapi.ts";
import { DOCUMENTS } from "./documents.ts";
import { eventsPage } from "./events-page.ts";
import { GUIDES, guideHref, markdownPath, PROTOCOL_FILE, TEXTS } from "./guides.ts";
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
 * server has at the first request. Each document is made at its first request.
 */
export function addDocumentRoutes(
  scope: FastifyInstance,
  settings: Pick<HttpSettings, "basePath" | "corsOrigins" | "publicUrl" | "allowedHosts">,
  { isKeyed, anonymous }: Pick<ExtensionContext["policy"], "isKeyed" | "anonymous">,
): void {
  const { basePath } = settings;
  const needs = !isKeyed ? "nothing" : anonymous ? "key for pro" : "key";
  const site: Site = { basePath, contracts: scope.routeContracts, needs };
  let openapi: OpenApiDocument | undefined;
  const describe = () => (openapi ??= createOpenApi(basePath, site.contracts));
  const vary = varyOf(settings);
  const toldAddressOf = createToldAddressOf(settings);
  const addressOf = (request: FastifyRequest) => toldAddressOf(request) ?? "";
  /** `make`: returns the document by its key, `undefined` if nothing is there. */
  const add = (
    path: string,
    type: string,
    make: (key: string) => string | undefined,
    contract: RouteRules = {},
    keyOf = (request: FastifyRequest) => pathIn(path, request.params),
  ): void => {
    const made = new Map<string, Representation>();
    const fields = readyFields({
      "cache-control": "no-cache",
      vary,
      ...(type === "text/html" ? DOCUMENT_FIELDS : {}),
    });
    const read = (key: string) => {
      const text = made.has(key) ? undefined : make(key);
      if (text !== undefined) made.set(key, represent(text, `${type}; charset=utf-8`));
      return made.get(key);
    };
    scope.route({
      method: ["GET", "HEAD"],
      url: path,
      config: { contract },
      handler: (request, reply) => {
        const document = read(keyOf(request));
        if (!document) return reply.callNotFound();
        return sendReady(reply, readyAnswer(document, [fields], request.raw));
      },
    });
    if (type !== "text/html") return;
    scope.route({
      method: ["GET", "HEAD"],
      url: `${path}/`,
      handler: (request, reply) => reply.redirect(`${basePath}${pathIn(path, request.params)}`, 308),
    });
  };
  const makers = createMakers(site, describe);
  for (const name of Object.keys(DOCUMENTS) as DocumentName[])
    add(
      DOCUMENTS[name].path,
      DOCUMENTS[name].type,
      makers[name],
      DOCUMENTS[name],
      name === "openapi" || name === "asyncapi" ? addressOf : undefined,
    );
  for (const { path, file, title } of GUIDES)
    add(path, "text/html", () => guidePage(site, path, title, file));
  for (const { path, file } of TEXTS)
    add(markdownPath(path), "text/markdown", () => guideText(basePath, file));
  add(`${OPERATION_PAGES}:name`, "text/html", (path) => {
    const document = describe();
    const found = operationsOf(document, site.contracts).find(({ page }) => page === path);
    return found && operationPage(site, found, document);
  });
}

/** Fills the part `:name` of a route's path, which only the path of operations has. */
function pathIn(path: string, params: unknown): string {
  const { name = "" }: { readonly name?: string } = Object(params);
  return path.replace(":name", encodeURIComponent(name));
}

function createMakers(
  site: Site,
  describe: () => OpenApiDocument,
): Readonly<Record<DocumentName, (key: string) => string>> {
  const { basePath } = site;
  const describeEvents = () => createAsyncApi(basePath);
  const { docsProtocol, docsGuides } = DOCUMENTS;
  return {
    // Their key is the server's address, "" if it is unknown.
    openapi: (address) => JSON.stringify(createOpenApi(basePath, site.contracts, address || undefined)),
    asyncapi: (address) => JSON.stringify(createAsyncApi(basePath, address || undefined)),
    docs: () => restPage(site, describe()),
    docsEvents: () => eventsPage(site, describeEvents()),
    docsProtocol: () => guidePage(site, docsProtocol.path, "Protocol", PROTOCOL_FILE),
    docsGuides: () => pageHtml(site, docsGuides.path, "Guides", guidesHtml(basePath)),
    docsSearch: () => JSON.stringify(searchIndex(site, describe(), describeEvents(), guidePages(basePath))),
    llms: () => llmsText(site),
    docsScript: () => `${readText("./assets/page.js")}\n${readText("./assets/search.js")}`,
    docsStyle: () => readText("./assets/page.css"),
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

function guidePages(basePath: string) {
  return TEXTS.map(({ path, title, file }) => ({ path, title, body: guideBody(basePath, file) }));
}

/** Reads a document of the repository. Its relative path is the same from `dist` as from `src`. */
function readGuide(file: string): string {
  return readText(`../../../../${file}`);
}

function guidesHtml(basePath: string): Html {
  const items = GUIDES.map(
    ({ path, title, summary }) => html`<li><a href="${basePath}${path}">${title}</a> ${summary}</li>\n`,
  );
  return html`<h1>Guides</h1>\n<ul>\n${items}</ul>`;
}

function readText(path: string): string {
  return readFileSync(new URL(path, import.meta.url), "utf8");
}
