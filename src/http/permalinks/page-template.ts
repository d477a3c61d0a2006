import { type Html, html } from "../docs/html.ts";
import { PICTURE_HEIGHT, PICTURE_WIDTH } from "./picture/share-picture.ts";

/** The text of one page, without the frame that all permalinks share. */
export interface PageText {
  /** Plain text; untrusted names in it must be made safe. */
  readonly title: string;
  readonly description: string;
  readonly main: Html;
}

/** The location of a page. */
interface PagePlace {
  /** Relative URL from the page to the root: the page then works below any path of a proxy. */
  readonly root: string;
  /** Absolute URL of the page, for previews; `undefined` if it is unknown. */
  readonly url: string | undefined;
  /** Description of the page's picture; `undefined` if it has none. */
  readonly alt: string | undefined;
}

/** Path of a page's picture, appended to the page's path. */
export const PICTURE_PATH = "/picture.png";

/** Fills the built template `permalink.html`. */
export function fillTemplate(
  template: string,
  { title, description, main }: PageText,
  { root, url, alt }: PagePlace,
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
${alt === undefined ? html`` : pictureTags(`${url}${PICTURE_PATH}`, alt)}`
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
