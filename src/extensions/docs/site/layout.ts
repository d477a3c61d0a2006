import type { RouteContract } from "../../../gateway/http/index.ts";
import { frameHtml, Html, html } from "../../pages/index.ts";
import { DOCUMENTS } from "./documents.ts";
import { GUIDES, TUTORIALS } from "./guides.ts";
import { operationsIn } from "./rest/operations.ts";

/** What the pages of a server have in common. */
export interface Site {
  readonly basePath: string;
  readonly contracts: Iterable<RouteContract>;
  /** What a visitor needs to read the server's data. */
  readonly needs: "nothing" | "key for pro" | "key";
}

type Entry = readonly [path: string, label: Html];
type Groups = readonly (readonly [name: string, entries: readonly Entry[]])[];

/** Returns the pages of the map, by group. */
function groupsOf(contracts: Iterable<RouteContract>): Groups {
  const operations = operationsIn(contracts).map(
    ({ page, route }): Entry => [page, html`<code>${route.path.replace("/api/v1", "")}</code>`],
  );
  return [START, ["API", operations], ...OTHER_GROUPS];
}

const linksTo = (guides: typeof GUIDES) => guides.map(({ path, title }): Entry => [path, html`${title}`]);

const START: Groups[number] = ["Start", [[DOCUMENTS.docs.path, html`Start here`], ...linksTo(TUTORIALS)]];

const OTHER_GROUPS: Groups = [
  [
    "Events",
    [
      [DOCUMENTS.docsEvents.path, html`Messages`],
      [DOCUMENTS.docsProtocol.path, html`Protocol`],
    ],
  ],
  ["Guides", [[DOCUMENTS.docsGuides.path, html`Guides`], ...linksTo(GUIDES)]],
  [
    "Contracts",
    [
      [DOCUMENTS.openapi.path, html`OpenAPI`],
      [DOCUMENTS.asyncapi.path, html`AsyncAPI`],
    ],
  ],
];

/** Renders the search, and the map of all pages with the page's sections below its entry. */
function sideHtml({ basePath, contracts }: Site, page: string | undefined, body: Html): Html {
  const sections = [...body.markup.matchAll(/<h2 id="([^"]+)">(.*?)<\/h2>/g)].map(
    // Safe, because it is part of safe markup.
    ([, id = "", title = ""]) =>
      html`<li><a href="#${id}">${new Html(title.replace(/<\/?a\b[^>]*>/g, ""))}</a></li>\n`,
  );
  const entries = groupsOf(contracts).map(([name, links]) => {
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
export function pageHtml(site: Site, page: string | undefined, title: string, body: Html): string {
  const side = sideHtml(site, page, body);
  return frameHtml(site.basePath, { title, body, side, isDocument: page !== undefined });
}
