import { VERSION } from "../../base/lib/version.ts";
import { type Html, html } from "./html.ts";
import { pagePolicy } from "./send-page.ts";

export const DOCUMENT_FIELDS = {
  "content-security-policy": pagePolicy("script", "style", "connect"),
  "referrer-policy": "no-referrer",
} as const;

interface FrameOptions {
  readonly title: string;
  readonly body: Html;
  /** Column next to the body. The header links to its contents. Default: none. */
  readonly side?: Html;
  /** Whether the page is one of the documents, which the header marks. Default: no. */
  readonly isDocument?: boolean;
}

/** Renders a complete page, with the header and the style of the documents. */
export function frameHtml(basePath: string, { title, body, side, isDocument = false }: FrameOptions): string {
  const links = [
    ["/", "Dashboard"],
    ["/docs", "Docs"],
    ["/widgets", "Widgets"],
    ["/docs/source", "Source"],
  ].map(([path, label]) => {
    const current = label === "Docs" && isDocument ? html` aria-current="true"` : html``;
    return html`<a href="${basePath}${path}"${current}>${label}</a>\n`;
  });
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} – Flarewire</title>
<link rel="stylesheet" href="${basePath}/docs/page.css">
<script type="module" src="${basePath}/docs/page.js"></script>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header><strong>Flarewire</strong> <small>${VERSION}</small>
<nav aria-label="Site">
${links}${side ? html`<a class="open-map" href="#map">Contents</a>` : ""}
</nav></header>
${side ?? html`<div class="side"></div>`}
<main id="content">
${body}
</main>
</body>
</html>
`.markup;
}
