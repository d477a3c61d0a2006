/** Markup that is safe to put into a page. Made by {@link html} only, so that text never becomes markup unseen. */
export class Html {
  readonly markup: string;

  constructor(markup: string) {
    this.markup = markup;
  }
}

type Part = string | number | boolean | undefined | Html | readonly Html[];

/** Markup of a template: texts that are put into it are escaped, markup stays. `undefined` and `false` are nothing. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(strings.reduce((made, string, at) => made + toMarkup(parts[at - 1]) + string));
}

/** A sentence in which `code` stands between backticks. */
export function prose(text: string): Html {
  return new Html(escapeText(text).replace(/`([^`]+)`/g, "<code>$1</code>"));
}

/** The text with everything replaced that a browser could take for markup. */
export function escapeText(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}

function toMarkup(part: Part): string {
  if (part === undefined || part === false) return "";
  if (part instanceof Html) return part.markup;
  if (Array.isArray(part)) return part.map(({ markup }: Html) => markup).join("");
  return escapeText(String(part));
}
