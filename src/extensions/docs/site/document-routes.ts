import { readFileSync } from "node:fs";
import type { FastifyInstance } from "fastify";
import { DOCUMENTS } from "../../../gateway/http/endpoints.ts";
import type { HttpSettings } from "../../../gateway/http/http-settings.ts";
import { readyAnswer, sendReady } from "../../../gateway/http/rest/ready-answer.ts";
import { readyFields } from "../../../gateway/http/rest/ready-fields.ts";
import { type Representation, represent } from "../../../gateway/http/rest/representation.ts";
import { DOCUMENT_FIELDS } from "../../pages/frame.ts";
import { type Html, html } from "../../pages/html.ts";
import { varyOf } from "../../pages/send-page.ts";
import { createAsyncApi } from "../contracts/asyncapi.ts";
import { createOpenApi, type OpenApiDocument } from "../contracts/openapi.ts";
import { eventsPage } from "./events-page.ts";
import { GUIDES, guideHref, markdownPath, PROTOCOL_FILE, TEXTS } from "./guides.ts";
import { pageHtml } from "./layout.ts";
import { llmsText } from "./llms-text.ts";
import { markdown, resolveLinks } from "./markdown.ts";
import { operationPage } from "./rest/operation-page.ts";
import { OPERATIONS, operationsOf } from "./rest/operations.ts";
import { restPage } from "./rest/rest-page.ts";
import { searchIndex } from "./search-index.ts";

type DocumentName = keyof typeof DOCUMENTS;

/**
 * Serves the contracts, the guides, their search index and `llms.txt`. Each is made at its first
 * request.
 */
export function addDocumentRoutes(
  scope: FastifyInstance,
  settings: Pick<HttpSettings, "basePath" | "corsOrigins">,
): void {
  const { basePath } = settings;
  let openapi: OpenApiDocument | undefined;
  const describe = () => (openapi ??= createOpenApi(basePath));
  const vary = varyOf(settings);
  const add = (path: string, type: string, make: () => string): void => {
    let made: Representation | undefined;
    const fields = readyFields({
      "cache-control": "no-cache",
      vary,
      ...(type === "text/html" ? DOCUMENT_FIELDS : {}),
    });
    scope.route({
      method: ["GET", "HEAD"],
      url: path,
      handler: (request, reply) => {
        made ??= represent(make(), `${type}; charset=utf-8`);
        return sendReady(reply, readyAnswer(made, [fields], request.raw));
      },
    });
    if (type !== "text/html") return;
    scope.route({
      method: ["GET", "HEAD"],
      url: `${path}/`,
      handler: (_request, reply) => reply.redirect(`${basePath}${path}`, 308),
    });
  };
  const makers = createMakers(basePath, describe);
  for (const name of Object.keys(DOCUMENTS) as DocumentName[])
    add(DOCUMENTS[name].path, DOCUMENTS[name].type, makers[name]);
  for (const { path, file, title } of GUIDES)
    add(path, "text/html", () => guidePage(basePath, path, title, file));
  for (const { path, file } of TEXTS)
    add(markdownPath(path), "text/markdown", () => guideText(basePath, file));
  for (const { page } of OPERATIONS)
    add(page, "text/html", () => {
      const document = describe();
      const found = operationsOf(document).find((operation) => operation.page === page);
      return found ? operationPage(basePath, found, document) : "";
    });
}

function createMakers(
  basePath: string,
  describe: () => OpenApiDocument,
): Readonly<Record<DocumentName, () => string>> {
  const describeEvents = () => createAsyncApi(basePath);
  const { docsProtocol, docsGuides } = DOCUMENTS;
  return {
    openapi: () => JSON.stringify(describe()),
    asyncapi: () => JSON.stringify(describeEvents()),
    docs: () => restPage(basePath, describe()),
    docsEvents: () => eventsPage(basePath, describeEvents()),
    docsProtocol: () => guidePage(basePath, docsProtocol.path, "Protocol", PROTOCOL_FILE),
    docsGuides: () => pageHtml(basePath, docsGuides.path, "Guides", guidesHtml(basePath)),
    docsSearch: () =>
      JSON.stringify(searchIndex(basePath, describe(), describeEvents(), guidePages(basePath))),
    llms: () => llmsText(basePath),
    docsScript: () => `${readText("./assets/page.js")}\n${readText("./assets/search.js")}`,
    docsStyle: () => readText("./assets/page.css"),
  };
}

function guidePage(basePath: string, page: string, title: string, file: string): string {
  return pageHtml(basePath, page, title, guideBody(basePath, file));
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
