import { readFileSync } from "node:fs";
import { GUIDES, PROTOCOL_FILE } from "../../src/http/index.ts";

const ROOT = new URL("../../", import.meta.url);

/** The project's documents, from its root. */
export const DOCUMENT_FILES: readonly string[] = [
  "README.md",
  PROTOCOL_FILE,
  ...GUIDES.map(({ file }) => file),
];

/** The text of a document. */
export function readDocument(file: string): string {
  return readFileSync(new URL(file, ROOT), "utf8");
}

/** The text of all documents, one after the other. */
export const ALL_DOCUMENTS: string = DOCUMENT_FILES.map(readDocument).join("\n");

/** The commands in a document's shell examples, without remarks. */
export function commandsOf(text: string): readonly string[] {
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].flatMap(([, language, example = ""]) => {
    const lines = example.split("\n").map((line) => line.replace(/\s+#.*$/, ""));
    if (language !== "sh" && language !== "") return [];
    const typed = language === "sh" ? lines : lines.filter((line) => line.startsWith("$ "));
    return typed.map((line) => line.replace(/^\$ /, "")).filter((line) => line !== "");
  });
}

/** The anchors of a document's headings. */
export function anchorsOf(text: string): readonly string[] {
  const prose = text.replace(/^```[\s\S]*?^```$/gm, "");
  return [...prose.matchAll(/^#+ (.*)$/gm)].map(([, title = ""]) =>
    title.toLowerCase().replace(/[^\w]+/g, "-"),
  );
}
