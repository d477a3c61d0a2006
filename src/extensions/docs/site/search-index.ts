import type { Html } from "../../pages/index.ts";
import type { AsyncApiDocument } from "../contracts/asyncapi.ts";
import type { OpenApiDocument } from "../contracts/openapi.ts";
import { DOCUMENTS } from "./documents.ts";
import type { Site } from "./layout.ts";
import { operationsOf } from "./rest/operations.ts";

/** A search result: its title, page and address, and more words that find it. */
type SearchEntry = readonly [title: string, page: string, href: string, words: string];

interface GuidePage {
  readonly path: string;
  readonly title: string;
  readonly body: Html;
}

/** A part of a guide below a heading or a bold opening, and its text. */
interface Section {
  readonly title: string;
  readonly page: string;
  readonly href: string;
  readonly names: readonly string[];
  readonly words: readonly string[];
}

/** A word in more sections than this finds none of them, unless it is in a title or a name. */
const MAX_SECTIONS = 5;
/** Its sections mention everything, so they are found only by title and names. */
const CHANGES = "/docs/changelog";

/**
 * Lists every operation with its parameters, message, close code and section of the guides. `pause`
 * is awaited after each guide is read, and again after its words are chosen.
 */
export async function searchIndex(
  { basePath, contracts }: Site,
  openapi: OpenApiDocument,
  asyncapi: AsyncApiDocument,
  guides: Iterable<GuidePage>,
  pause: () => Promise<unknown>,
): Promise<{ readonly entries: readonly SearchEntry[] }> {
  const events = `${basePath}${DOCUMENTS.docsEvents.path}`;
  const entries = [
    ...operationsOf(openapi, contracts).map(({ page, route: { path, method }, contract }): SearchEntry => {
      const parameters = contract.parameters?.map((parameter) => parameter.name).join(" ") ?? "";
      const words = `${contract.summary} ${parameters}`;
      return [`${method} ${path}`, "API", `${basePath}${page}`, words];
    }),
    ...Object.entries(asyncapi.components.messages).map(
      ([name, { summary }]): SearchEntry => [name, "Events", `${events}#message-${name}`, summary],
    ),
    ...asyncapi["x-close-codes"].map(
      ({ code, reason, meaning }): SearchEntry => [
        `${code} ${reason}`,
        "Close codes",
        `${events}#codes`,
        meaning,
      ],
    ),
    ...(await guideEntries(basePath, guides, pause)),
  ];
  return { entries };
}

async function guideEntries(
  basePath: string,
  guides: Iterable<GuidePage>,
  pause: () => Promise<unknown>,
): Promise<readonly SearchEntry[]> {
  const byGuide: (readonly Section[])[] = [];
  const uses = new Map<string, number>();
  for (const guide of guides) {
    const sections = sectionsOf(basePath, guide);
    byGuide.push(sections);
    for (const word of sections.flatMap(({ words }) => [...new Set(words)]))
      uses.set(word, (uses.get(word) ?? 0) + 1);
    await pause();
  }
  const entries: SearchEntry[] = [];
  for (const sections of byGuide) {
    entries.push(...sections.map((section) => entryOf(section, uses)));
    await pause();
  }
  return entries;
}

function entryOf(
  { title, page, href, names, words }: Section,
  uses: ReadonlyMap<string, number>,
): SearchEntry {
  const rare = words.filter((word) => (uses.get(word) ?? 0) <= MAX_SECTIONS);
  const own = [...new Set(names)].join(" ");
  const others = withoutForms(rare, `${title} ${page} ${own}`);
  return [title, page, href, [own, ...others].join(" ")];
}

/**
 * Keeps one form of each word, and none of a word that `given` has, because a search also finds the
 * other usual forms (`rankWord` in `assets/search.js`).
 */
function withoutForms(words: readonly string[], given: string): readonly string[] {
  const byStem = words.map((word) => [word.replace(/(?<=\w{3})(?:ing|ed|e?s|e)$/, ""), word] as const);
  const known = given.toLowerCase().match(/\w+/g) ?? [];
  const stems = new Set(known.flatMap((word) => ENDINGS.flatMap((ending) => without(word, ending))));
  return [...new Map(byStem)].flatMap(([stem, word]) => (stems.has(stem) ? [] : [word]));
}

/** The endings of a word's usual forms. */
const ENDINGS = ["", "ing", "ed", "es", "s", "e"];

function without(word: string, ending: string): readonly string[] {
  return word.endsWith(ending) ? [word.slice(0, word.length - ending.length)] : [];
}

/** A paragraph or an item with a bold opening, which works as a heading. */
const OPENING = /<(p|li) id="([^"]+)"><strong>(.*?)<\/strong>(.*?)<\/\1>/g;

function sectionsOf(basePath: string, { path, title: guide, body }: GuidePage): readonly Section[] {
  const [, ...parts] = body.markup.replace(/<pre[\s\S]*?<\/pre>|<wbr>/g, "").split(/<h[1-3] id="/);
  return parts.flatMap((part, at) => {
    const [, id = "", title = "", text = ""] = /^([^"]+)">(.*?)<\/h\d>([\s\S]*)/.exec(part) ?? [];
    const page = at === 0 ? guide : `${guide}, ${textOf(title)}`;
    const sectionOf = (page: string, id: string, title: string, markup: string): Section => ({
      title: textOf(title).replace(/[.,:]$/, ""),
      page,
      href: `${basePath}${path}#${id}`,
      names: [...markup.matchAll(NAMED)].map(([, , name = ""]) => textOf(name)),
      words:
        textOf(path === CHANGES ? "" : markup.replace(NAMED, ""))
          .toLowerCase()
          // With one letter after it for keys such as Ctrl-C.
          .match(/[a-z]{4,}(?:-[a-z]\b)?/g) ?? [],
    });
    return [
      sectionOf(guide, id, title, text.replace(OPENING, "")),
      ...[...text.matchAll(OPENING)].map(([, , id = "", title = "", rest = ""]) =>
        sectionOf(page, id, title, rest),
      ),
    ];
  });
}

/** Names and values in `backticks`, and words of the pages in *italics*. */
const NAMED = /<(code|em)>(.*?)<\/\1>/g;

function textOf(markup: string): string {
  return markup
    .replace(/<[^>]+>/g, " ")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&")
    .replace(/\s+/g, " ")
    .trim();
}
