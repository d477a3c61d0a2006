import { readFileSync } from "node:fs";
import type { FastifyInstance } from "fastify";
import { createAsyncApi } from "../contracts/asyncapi.ts";
import { createOpenApi } from "../contracts/openapi.ts";
import { DOCUMENTS } from "../endpoints.ts";
import type { HttpSettings } from "../http-settings.ts";
import { readyAnswer, sendReady } from "../rest/ready-answer.ts";
import { readyFields } from "../rest/ready-fields.ts";
import { Representation, versionOf } from "../rest/representation.ts";
import { eventsPage } from "./events-page.ts";
import { PAGE_POLICY, pageHtml } from "./layout.ts";
import { markdown } from "./markdown.ts";
import { restPage } from "./rest-page.ts";

type DocumentName = keyof typeof DOCUMENTS;

/**
 * The contracts as JSON, and as pages that people read and try, below the prefix of `scope`. Each is made at the first request for it and
 * never changes while the process lives, so that asking again costs a 304. The pages load nothing from elsewhere.
 */
export function addDocumentRoutes(
  scope: FastifyInstance,
  settings: Pick<HttpSettings, "basePath" | "corsOrigins">,
): void {
  const { basePath, corsOrigins } = settings;
  const vary = corsOrigins === "*" ? "Accept-Encoding" : "Accept-Encoding, Origin";
  const made = new Map<DocumentName, Representation>();
  const read = (name: DocumentName): Representation => {
    const held = made.get(name) ?? represent(makeDocument(name, basePath), DOCUMENTS[name].type);
    made.set(name, held);
    return held;
  };
  for (const name of Object.keys(DOCUMENTS) as DocumentName[]) {
    const { path, type } = DOCUMENTS[name];
    const fields = readyFields({
      "cache-control": "no-cache",
      vary,
      ...(type === "text/html" ? PAGE_FIELDS : {}),
    });
    scope.route({
      method: ["GET", "HEAD"],
      url: path,
      handler: (request, reply) => sendReady(reply, readyAnswer(read(name), [fields], request.raw)),
    });
  }
}

const PAGE_FIELDS = { "content-security-policy": PAGE_POLICY, "referrer-policy": "no-referrer" } as const;

function represent(text: string, type: string): Representation {
  const bytes = Buffer.from(text);
  return new Representation(bytes, versionOf(bytes), `${type}; charset=utf-8`);
}

function makeDocument(name: DocumentName, basePath: string): string {
  switch (name) {
    case "openapi":
      return JSON.stringify(createOpenApi(basePath));
    case "asyncapi":
      return JSON.stringify(createAsyncApi(basePath));
    case "docs":
      return restPage(basePath, createOpenApi(basePath));
    case "docsEvents":
      return eventsPage(basePath, createAsyncApi(basePath));
    case "docsProtocol":
      // From src/http/docs and dist/http/docs alike; the package has the text where its links lead.
      return pageHtml(
        basePath,
        "docsProtocol",
        "Protocol",
        markdown(readText("../../../src/protocol/PROTOCOL.md")),
      );
    case "docsScript":
      return readText("./assets/page.js");
    case "docsStyle":
      return readText("./assets/page.css");
  }
}

function readText(path: string): string {
  return readFileSync(new URL(path, import.meta.url), "utf8");
}
