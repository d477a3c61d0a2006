import { readFileSync } from "node:fs";
import { GUIDES, PROTOCOL_FILE, TUTORIALS } from "../../src/extensions/docs/index.ts";

const ROOT = new URL("../../", import.meta.url);

/** Paths of the project's documents, relative to its root. */
export const DOCUMENT_FILES: readonly string[] = [
  "README.md",
  PROTOCOL_FILE,
  ...[...TUTORIALS, ...GUIDES].map(({ file }) => file),
];

/** Returns the text of a document. */
export function readDocument(file: string): string {
  return readFileSync(new URL(file, ROOT), "utf8");
}

/** The concatenated text of all documents. */
export const ALL_DOCUMENTS: string = DOCUMENT_FILES.map(readDocument).join("\n");

interface Block {
  /** Empty if the document names none. */
  readonly language: string;
  /** Name of the file in which a reader saves it; empty for other blocks. */
  readonly name: string;
  readonly code: string;
}

/** Returns the blocks of code in a document, in their order. */
export function blocksOf(text: string): readonly Block[] {
  return [...text.matchAll(/^```(\w*) ?(\S*)\n([\s\S]*?)^```$/gm)].map(
    ([, language = "", name = "", code = ""]) => ({ language, name, code }),
  );
}

/** Returns the commands in a document's shell examples, without comments. */
export function commandsOf(text: string): readonly string[] {
  return blocksOf(text).flatMap(({ language, code }) => {
    const lines = code.split("\n").map((line) => line.replace(/\s+#.*$/, ""));
    if (language !== "sh" && language !== "") return [];
    const typed = language === "sh" ? lines : lines.filter((line) => line.startsWith("$ "));
    return typed.map((line) => line.replace(/^\$ /, "")).filter((line) => line !== "");
  });
}

/** Returns the anchors of a document's headings. */
export function anchorsOf(text: string): readonly string[] {
  const prose = text.replace(/^```[\s\S]*?^```$/gm, "");
  return [...prose.matchAll(/^#+ (.*)$/gm)].map(([, title = ""]) =>
    title.toLowerCase().replace(/[^\w]+/g, "-"),
  );
}
