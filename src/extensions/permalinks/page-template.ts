import { type Html, html } from "../pages/index.ts";
import { PICTURE_HEIGHT, PICTURE_WIDTH } from "./picture/share-picture.ts";

/** The text of one page, for the template that all permalinks share. */
export interface PageText {
  /** Plain text. Callers pass untrusted names through `safeText`. */
  readonly title: string;
  readonly description: string;
  readonly main: Html;
}

interface PageLinks {
  /** Relative URL from the page to the root: the page then works below any path of a proxy. */
  readonly root: string;
  /** Absolute URL of the page, for previews; `undefined`: previews have no picture and no link. */
  readonly url: string | undefined;
  /** Description of the page's picture. */
  readonly alt: string;
}

/** Path of a page's picture, appended to the page's path. */
export const PICTURE_PATH = "/picture.png";

/** Fills the built template `permalink.html`. */
export function fillTemplate(
  template: string,
  { title, description, main }: PageText,
  { root, url, alt }: PageLinks,
): string {
  const full = `${title} – Flarewire`;
  const head = html`<title>${full}</title>
<meta name="description" content="${description}">
<meta property="og:type" content="article">
<meta property="og:site_name" content="Flarewire">
<meta property="og:title" content="${title}">
<meta property="og:description" content="${description}">
<meta name="twitter:card" content="${url === undefined ? "summary" : "summary_large_image"}">
<meta name="twitter:title" content="${title}">
<meta name="twitter:description" content="${description}">
${
  url === undefined
    ? html``
    : html`<meta property="og:url" content="${url}">
<link rel="canonical" href="${url}">
${pictureTags(`${url}${PICTURE_PATH}`, alt)}`
}`;
  const framed = template.replaceAll('"./', `"${root}`);
  // Functions, because `replace` would interpret `$` in a text.
  return framed.replace("<!--head-->", () => head.markup).replace("<!--main-->", () => main.markup);
}

function pictureTags(url: string, alt: string): Html {
  return html`<meta property="og:image" content="${url}">
<meta property="og:image:type" content="image/png">
<meta property="og:image:width" content="${PICTURE_WIDTH}">
<meta property="og:image:height" content="${PICTURE_HEIGHT}">
<meta property="og:image:alt" content="${alt}">
<meta name="twitter:image" content="${url}">
<meta name="twitter:image:alt" content="${alt}">`;
}
