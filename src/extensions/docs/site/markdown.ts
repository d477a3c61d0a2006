import { escapeHtml } from "../../../base/lib/text/escape-html.ts";
import { withWholeUnits } from "../../../base/lib/text/percent.ts";
import { Html } from "../../pages/index.ts";

/** Returns a link's address; `undefined` shows only the link's label. */
type LinkResolver = (target: string) => string | undefined;

/**
 * Renders the Markdown that our documents use, without front matter. `resolve` maps links to other
 * documents.
 */
export function markdown(text: string, resolve: LinkResolver = () => undefined): Html {
  // Fences can contain blank lines, so extract them first.
  const parts = withoutFrontMatter(text).split(/^(```[\s\S]*?^```)$/m);
  const blocks = parts.flatMap((part) => (part.startsWith("```") ? [part] : splitBlocks(part)));
  const rendered = blocks.map((one) => block(one, resolve)).join("\n");
  const lists = rendered.replaceAll("</ul>\n<ul>", "\n").replaceAll("</ol>\n<ol>", "\n");
  return new Html(withUniqueIds(lists));
}

/** Numbers equal IDs, as GitHub does for headings: `added`, `added-1`. */
function withUniqueIds(html: string): string {
  const uses = new Map<string, number>();
  return html.replace(/(?<=<(?:h\d|p|li) id=")[^"]+/g, (id) => {
    const count = uses.get(id) ?? 0;
    uses.set(id, count + 1);
    return count === 0 ? id : `${id}-${count}`;
  });
}

/** A span of code, or a link with its label and target. */
const LINK = /`[^`\n]+`|\[((?:[^\]`]|`[^`]*`)*)\]\(([^)\s]+)\)/g;

/**
 * Returns the text as Markdown whose links lead to other documents of the server. Omits front
 * matter, comments and pictures.
 */
export function resolveLinks(text: string, resolve: LinkResolver): string {
  const parts = withoutFrontMatter(text).split(/^(```[\s\S]*?^```)$/m);
  return parts.map((part) => (part.startsWith("```") ? part : withResolved(part, resolve))).join("");
}

function withResolved(part: string, resolve: LinkResolver): string {
  return withoutMarkup(part).replace(LINK, (whole: string, label?: string, target?: string) => {
    if (label === undefined || target === undefined || /^(#|https:)/.test(target)) return whole;
    const href = resolve(target);
    return href === undefined ? label : `[${label}](${href})`;
  });
}

function withoutFrontMatter(text: string): string {
  return text.replace(/^---\n[\s\S]*?\n---\n/, "");
}

function withoutMarkup(text: string): string {
  return text.replace(/<!--[\s\S]*?-->\n?|<picture>[\s\S]*?<\/picture>/g, "");
}

function splitBlocks(text: string): readonly string[] {
  return withoutMarkup(text)
    .split(/\n{2,}|\n(?=\* |\d+\. )/)
    .map((block) => block.trim())
    .filter((block) => block !== "");
}

function block(text: string, resolve: LinkResolver): string {
  const [, hashes = "", title = ""] = /^(#{1,4}) (.*)$/.exec(text) ?? [];
  if (hashes) return `<h${hashes.length} id="${anchor(title)}">${inline(title, resolve)}</h${hashes.length}>`;
  if (text.startsWith("```")) {
    const isSample = /^```(?:bash|html|js|python|sh|ts)\b/.test(text);
    const code = escapeHtml(text.replace(/^```.*\n|\n?```$/g, ""));
    return `<pre${isSample ? ` class="sample"` : ""} tabindex="0">${code}</pre>`;
  }
  if (text.startsWith("|")) return table(text.split("\n"), resolve);
  const [, marker = "", item = ""] = /^(\*|\d+\.) ([\s\S]*)$/.exec(text) ?? [];
  const list = marker === "*" ? "ul" : "ol";
  if (marker) return `<${list}>${paragraph("li", item.replace(/\n\s*/g, " "), resolve)}</${list}>`;
  return paragraph("p", text.replaceAll("\n", " "), resolve);
}

/** Renders a paragraph or an item. A bold opening works as a heading, so it gets an ID. */
function paragraph(tag: string, text: string, resolve: LinkResolver): string {
  const [, opening] = /^\*\*(.+?)\*\*/.exec(text) ?? [];
  const id = opening === undefined ? "" : ` id="about${anchor(` ${opening}`).replace(/-$/, "")}"`;
  return `<${tag}${id}>${inline(text, resolve)}</${tag}>`;
}

function table([head = "", , ...rows]: readonly string[], resolve: LinkResolver): string {
  const cells = (row: string, tag: string) =>
    row
      .slice(1, -1)
      .split(/(?<!\\)\|/)
      .map((cell) => inline(cell.trim().replaceAll("\\|", "|"), resolve))
      .map((cell, at) => `<${tag}>${at === 0 ? breakable(cell) : cell}</${tag}>`)
      .join("");
  const body = rows.map((row) => `<tr>${cells(row, "td")}</tr>`).join("\n");
  return `<div class="wide"><table><thead><tr>${cells(head, "th")}</tr></thead><tbody>${body}</tbody></table></div>`;
}

/** Lets long names break after an underscore, so that they leave room for the other columns. */
function breakable(markup: string): string {
  return markup.replace(/<code>[^<]*<\/code>/g, (code) => code.replace(/_(?=\w)/g, "_<wbr>"));
}

function inline(text: string, resolve: LinkResolver): string {
  const codes: string[] = [];
  // A NUL stands for each span of code, because Markdown has no meaning in it.
  const withoutCode = text.replace(/`([^`]+)`/g, (_span, code: string) => {
    codes.push(`<code>${escapeHtml(code)}</code>`);
    return "\0";
  });
  return escapeHtml(withWholeUnits(withoutCode))
    .replace(/\*\*(.+?)\*\*/g, "<strong>$1</strong>")
    .replace(/\*([^*\s](?:[^*]*[^*\s])?)\*/g, "<em>$1</em>")
    .replace(/\[([^\]]+)\]\(([^)\s]+)\)/g, (_link, label: string, to: string) => link(label, to, resolve))
    .replaceAll("\0", () => codes.shift() ?? "");
}

function link(label: string, target: string, resolve: LinkResolver): string {
  const href = /^(#|https:)/.test(target) ? target : resolve(target);
  return href === undefined ? label : `<a href="${href}">${label}</a>`;
}

function anchor(title: string): string {
  return title.toLowerCase().replace(/[^\w]+/g, "-");
}
