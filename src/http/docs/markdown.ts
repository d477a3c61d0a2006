import { escapeText, Html } from "./html.ts";

/**
 * As much of Markdown as the project's own documents use: headings, paragraphs, lists of one level, tables, fences, code, emphasis and
 * links within the document. Everything else is text.
 */
export function markdown(text: string): Html {
  // Fences hold blank lines, so they are taken out first.
  const parts = text.split(/^(```[\s\S]*?^```)$/m);
  const blocks = parts.flatMap((part) => (part.startsWith("```") ? [part] : splitBlocks(part)));
  return new Html(blocks.map(block).join("\n").replaceAll("</ul>\n<ul>", "\n"));
}

function splitBlocks(text: string): readonly string[] {
  return text
    .split(/\n{2,}|\n(?=\* )/)
    .map((block) => block.trim())
    .filter((block) => block !== "");
}

function block(text: string): string {
  const [, hashes = "", title = ""] = /^(#{1,4}) (.*)$/.exec(text) ?? [];
  if (hashes) return `<h${hashes.length} id="${anchor(title)}">${inline(title)}</h${hashes.length}>`;
  if (text.startsWith("```"))
    return `<pre tabindex="0">${escapeText(text.replace(/^```.*\n|\n?```$/g, ""))}</pre>`;
  if (text.startsWith("|")) return table(text.split("\n"));
  if (text.startsWith("* ")) return `<ul><li>${inline(text.slice(2).replace(/\n\s*/g, " "))}</li></ul>`;
  return `<p>${inline(text.replaceAll("\n", " "))}</p>`;
}

function table([head = "", , ...rows]: readonly string[]): string {
  const cells = (row: string, tag: string) =>
    row
      .slice(1, -1)
      .split("|")
      .map((cell) => `<${tag}>${inline(cell.trim())}</${tag}>`)
      .join("");
  const body = rows.map((row) => `<tr>${cells(row, "td")}</tr>`).join("\n");
  return `<div class="wide"><table><thead><tr>${cells(head, "th")}</tr></thead><tbody>${body}</tbody></table></div>`;
}

function inline(text: string): string {
  return text
    .split(/(`[^`]+`)/)
    .map((part) =>
      part.startsWith("`")
        ? `<code>${escapeText(part.slice(1, -1))}</code>`
        : escapeText(part)
            .replace(/\*\*([^*]+)\*\*/g, "<strong>$1</strong>")
            .replace(/\*([^*]+)\*/g, "<em>$1</em>")
            .replace(/\[([^\]]+)\]\((#[\w-]+)\)/g, '<a href="$2">$1</a>'),
    )
    .join("");
}

function anchor(title: string): string {
  return title.toLowerCase().replace(/[^\w]+/g, "-");
}
