import { z } from "zod";
import { CONDITIONAL, conditional, type RouteContract } from "../../../gateway/http/index.ts";

interface DocumentRoute extends RouteContract {
  /** Content type, without the charset. */
  readonly type: string;
}

function document(name: string, path: string, type: string, summary: string): DocumentRoute {
  const schema = type === "application/json" ? z.unknown().meta({ type: "object" }) : z.string();
  const isPage = type === "text/html";
  return {
    name,
    path,
    type,
    summary,
    method: "GET",
    tag: "documents",
    headers: CONDITIONAL,
    responses: conditional({ description: summary, content: { [type]: { schema } } }, [
      ...(["ETag", "Cache-Control", "Vary"] as const),
      ...(isPage ? (["Content-Security-Policy"] as const) : []),
    ]),
    problems: [],
  };
}

/** Documents about the API: GET, HEAD and OPTIONS, an entity tag, no data. */
export const DOCUMENTS = {
  openapi: document("openapi", "/openapi.json", "application/json", "The REST API as OpenAPI 3.1."),
  asyncapi: document("asyncapi", "/asyncapi.json", "application/json", "The events as AsyncAPI 3.0."),
  docs: document("docs", "/docs", "text/html", "First steps, and the REST API to try."),
  docsEvents: document("docsEvents", "/docs/events", "text/html", "Events and messages, to read and try."),
  docsProtocol: document("docsProtocol", "/docs/protocol", "text/html", "The normative protocol."),
  docsGuides: document("docsGuides", "/docs/guides", "text/html", "The guides for this version."),
  docsSearch: document("docsSearch", "/docs/search.json", "application/json", "What the search finds."),
  llms: document("llms", "/llms.txt", "text/plain", "The documents, for language models."),
  docsScript: document("docsScript", "/docs/page.js", "text/javascript", "The script of the pages."),
  docsStyle: document("docsStyle", "/docs/page.css", "text/css", "The style sheet of the pages."),
} as const;
