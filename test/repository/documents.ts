import { readFileSync } from "node:fs";
import { GUIDES, PROTOCOL_FILE } from "../../src/extensions/docs/index.ts";

const ROOT = new URL("../../", import.meta.url);

/** Paths of the project's documents, relative to its root. */
export const DOCUMENT_FILES: readonly string[] = [
  "README.md",
  PROTOCOL_FILE,
  ...GUIDES.map(({ file }) => file),
];

/** Returns the text of a document. */
export function readDocument(file: string): string {
  return readFileSync(new URL(file, ROOT), "utf8");
}

/** The concatenated text of all documents. */
export const ALL_DOCUMENTS: string = DOCUMENT_FILES.map(readDocument).join("\n");

/** Returns the commands in a document's shell examples, without comments. */
export function commandsOf(text: string): readonly string[] {
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].flatMap(([, language, example = ""]) => {
    const lines = example.split("\n").map((line) => line.replace(/\s+#.*$/, ""));
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
