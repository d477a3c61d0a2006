import { VERSION } from "../../lib/version.ts";
import { DOCUMENTS } from "../endpoints.ts";
import { type Html, html } from "./html.ts";

/** Content policy: own script, style sheet and requests. Nothing inline or from elsewhere. */
export const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const PAGES = { docs: "REST", docsEvents: "Events", docsProtocol: "Protocol", docsGuides: "Guides" } as const;
export type PageName = keyof typeof PAGES;

/** Renders a complete page. `page`: its entry in the navigation; a guide has none. */
export function pageHtml(basePath: string, page: PageName | undefined, title: string, body: Html): string {
  const links = Object.entries(PAGES).map(([name, label]) => {
    const href = `${basePath}${DOCUMENTS[name as PageName].path}`;
    const current = name === page ? html` aria-current="page"` : html``;
    return html`<a href="${href}"${current}>${label}</a>\n`;
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
<nav aria-label="Documents">
<a href="${basePath}/">Dashboard</a>
${links}<a href="${basePath}${DOCUMENTS.openapi.path}">OpenAPI</a>
<a href="${basePath}${DOCUMENTS.asyncapi.path}">AsyncAPI</a>
</nav></header>
<main id="content">
${body}
</main>
</body>
</html>
`.markup;
}
