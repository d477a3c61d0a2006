import { VERSION } from "../../../base/lib/version.ts";
import { DOCUMENTS } from "../../../gateway/http/endpoints.ts";
import { GUIDES } from "./guides.ts";
import { Html, html } from "./html.ts";
import { OPERATIONS } from "./rest/operations.ts";

/** Allows scripts and style sheets from this server, requests to it, and nothing inline. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

export const DOCUMENT_FIELDS = {
  "content-security-policy": PAGE_POLICY,
  "referrer-policy": "no-referrer",
} as const;

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
  const links = [
    ["/", "Dashboard"],
    [DOCUMENTS.docs.path, "Docs"],
    ["/widgets", "Widgets"],
    ["/docs/source", "Source"],
  ].map(([path, label]) => {
    const current = label === "Docs" && page !== undefined ? html` aria-current="true"` : html``;
    return html`<a href="${basePath}${path}"${current}>${label}</a>\n`;
  });
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} – Flarewire</title>
<link rel="stylesheet" href="${basePath}${DOCUMENTS.docsStyle.path}">
<script type="module" src="${basePath}${DOCUMENTS.docsScript.path}"></script>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header><strong>Flarewire</strong> <small>${VERSION}</small>
<nav aria-label="Site">
${links}<a class="open-map" href="#map">Contents</a>
</nav></header>
${sideHtml(basePath, page, body)}
<main id="content">
${body}
</main>
</body>
</html>
`.markup;
}
