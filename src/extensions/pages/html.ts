import { escapeHtml } from "../../base/lib/text/escape-html.ts";
import { withWholeUnits } from "../../base/lib/text/percent.ts";

/** Safe markup. Create it with {@link html}, which escapes text. The constructor does not. */
export class Html {
  readonly markup: string;

  constructor(markup: string) {
    this.markup = markup;
  }
}

type Part = string | number | boolean | undefined | Html | readonly Html[];

/** Creates markup: escapes text, inserts markup, omits `undefined` and `false`. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(strings.reduce((made, string, at) => made + toMarkup(parts[at - 1]) + string));
}

/** Renders a sentence with `code` between backticks, and numbers that stay with their units. */
export function prose(text: string): Html {
  return new Html(escapeHtml(withWholeUnits(text)).replace(/`([^`]+)`/g, "<code>$1</code>"));
}

function toMarkup(part: Part): string {
  if (part === undefined || part === false) return "";
  if (part instanceof Html) return part.markup;
  if (Array.isArray(part)) return part.map(({ markup }: Html) => markup).join("");
  return escapeHtml(String(part));
}
