import { type Html, html } from "../docs/html.ts";

/** What one page says, apart from the frame that all permalinks share. */
export interface PageText {
  /** Plain text; untrusted names in it must be made safe. */
  readonly title: string;
  readonly description: string;
  readonly main: Html;
}

/** Where a page is. */
export interface PagePlace {
  /** Relative URL from the page to the root: the page then works below any path of a proxy. */
  readonly root: string;
  /** Absolute URL of the page, for previews; `undefined` if the request names no host. */
  readonly url: string | undefined;
}

/** Fills the built template `permalink.html`. */
export function fillTemplate(
  template: string,
  { title, description, main }: PageText,
  { root, url }: PagePlace,
): string {
  const full = `${title} – Flarewire`;
  const head = html`<title>${full}</title>
<meta name="description" content="${description}">
<meta property="og:type" content="article">
<meta property="og:site_name" content="Flarewire">
<meta property="og:title" content="${title}">
<meta property="og:description" content="${description}">
<meta name="twitter:card" content="summary">
<meta name="twitter:title" content="${title}">
<meta name="twitter:description" content="${description}">
${
  url === undefined
    ? html``
    : html`<meta property="og:url" content="${url}">
<link rel="canonical" href="${url}">`
}`;
  const framed = template.replaceAll('"./', `"${root}`);
  // Functions, because `$` has a meaning in a text to insert.
  return framed.replace("<!--head-->", () => head.markup).replace("<!--main-->", () => main.markup);
}
