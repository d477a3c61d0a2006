import type { AsyncApiDocument } from "../contracts/asyncapi.ts";
import type { OpenApiDocument } from "../contracts/openapi.ts";
import { DOCUMENTS } from "../endpoints.ts";
import { anchor } from "./markdown.ts";
import { operationsOf } from "./rest/operations.ts";

/** Something to find: its title, page and address, and more words to find it by. */
type SearchEntry = readonly [title: string, page: string, href: string, words: string];

interface GuideText {
  readonly path: string;
  readonly title: string;
  readonly text: string;
}

const MAX_WORDS = 300;

/** Lists every operation, parameter, message, close code, and each section of the guides. */
export function searchIndex(
  basePath: string,
  openapi: OpenApiDocument,
  asyncapi: AsyncApiDocument,
  guides: readonly GuideText[],
): { readonly entries: readonly SearchEntry[] } {
  const events = `${basePath}${DOCUMENTS.docsEvents.path}`;
  const entries = [
    ...operationsOf(openapi).map(({ page, path, method, contract }): SearchEntry => {
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
    ...guides.flatMap(({ path, title, text }) =>
      sectionsOf(text).map(
        ([heading, words]): SearchEntry => [heading, title, `${basePath}${path}#${anchor(heading)}`, words],
      ),
    ),
  ];
  return { entries };
}

/** Names and values in `backticks`, and words of the pages in *italics*. */
const NAMED = /`([^`]+)`|(?<!\*)\*([^*\s][^*\n]*)\*(?!\*)/g;

/** Returns the headings of a guide, each with the names, values and words of the pages below it. */
function sectionsOf(text: string): readonly (readonly [heading: string, words: string])[] {
  const [, ...parts] = text.replace(/^```[\s\S]*?^```$/gm, "").split(/^#{1,3} /m);
  return parts.map((part) => {
    const [heading = ""] = part.split("\n", 1);
    const rules = [...part.matchAll(/\*\*(\[[A-Z]\d+\])\*\*/g)].map(([, rule = ""]) => rule);
    const names = [...part.matchAll(NAMED)].map(([, name, word = ""]) => name ?? word);
    return [heading.replaceAll("`", ""), [...new Set([...rules, ...names])].join(" ").slice(0, MAX_WORDS)];
  });
}
