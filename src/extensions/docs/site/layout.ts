import { DOCUMENTS } from "../../../gateway/http/endpoints.ts";
import { frameHtml } from "../../pages/frame.ts";
import { Html, html } from "../../pages/html.ts";
import { GUIDES } from "./guides.ts";
import { OPERATIONS } from "./rest/operations.ts";

type Entry = readonly [path: string, label: Html];

/** The pages of the map, by group. */
const GROUPS: readonly (readonly [name: string, entries: readonly Entry[]])[] = [
  [
    "API",
    [
      [DOCUMENTS.docs.path, html`Overview`],
      ...OPERATIONS.map(({ page, path }): Entry => [page, html`<code>${path.replace("/api/v1", "")}</code>`]),
    ],
  ],
  [
    "Events",
    [
      [DOCUMENTS.docsEvents.path, html`Messages`],
      [DOCUMENTS.docsProtocol.path, html`Protocol`],
    ],
  ],
  [
    "Guides",
    [
      [DOCUMENTS.docsGuides.path, html`Guides`],
      ...GUIDES.map(({ path, title }): Entry => [path, html`${title}`]),
    ],
  ],
  [
    "Contracts",
    [
      [DOCUMENTS.openapi.path, html`OpenAPI`],
      [DOCUMENTS.asyncapi.path, html`AsyncAPI`],
    ],
  ],
];

/** Renders the search, and the map of all pages with the page's sections below its entry. */
function sideHtml(basePath: string, page: string | undefined, body: Html): Html {
  const sections = [...body.markup.matchAll(/<h2 id="([^"]+)">(.*?)<\/h2>/g)].map(
    // Safe, because it is part of safe markup.
    ([, id = "", title = ""]) =>
      html`<li><a href="#${id}">${new Html(title.replace(/<\/?a\b[^>]*>/g, ""))}</a></li>\n`,
  );
  const entries = GROUPS.map(([name, links]) => {
    const items = links.map(([path, label]) => {
      const isHere = path === page;
      const current = isHere ? html` aria-current="page"` : html``;
      const below = isHere && sections.length > 0 ? html`\n<ul class="sections">${sections}</ul>` : html``;
      return html`<li><a href="${basePath}${path}"${current}>${label}</a>${below}</li>\n`;
    });
    return html`<p>${name}</p>\n<ul>${items}</ul>\n`;
  });
  return html`<div class="side">
<form id="search" role="search" data-index="${basePath}${DOCUMENTS.docsSearch.path}" hidden><label for="search-text">Search</label> <input id="search-text" type="search" maxlength="200" autocomplete="off" spellcheck="false"><output role="status"></output>
<ol></ol></form>
<nav id="map" aria-label="Documents">
${entries}<p class="close"><a href="#content">Close</a></p>
</nav>
</div>`;
}

/**
 * Renders a complete page. `page`: its path, which the map marks; `undefined` if it is not there.
 */
export function pageHtml(basePath: string, page: string | undefined, title: string, body: Html): string {
  const side = sideHtml(basePath, page, body);
  return frameHtml(basePath, { title, body, side, isDocument: page !== undefined });
}
