import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const SRC = fileURLToPath(new URL("../../src/", import.meta.url));
const TOKENS = "clients/style/tokens.css";
const COLOR = /#[0-9a-f]{3,8}\b|\brgba?\(/gi;

const read = (file: string) => readFileSync(join(SRC, file), "utf8").replace(/\/\*[\s\S]*?\*\//g, "");
const sheets = globSync("{clients/{dashboard,style},extensions}/**/*.css", { cwd: SRC });

test("the design tokens have the only colors of the style sheets", () => {
  expect(sheets).toContain(TOKENS);
  expect(sheets.length).toBeGreaterThan(3);
  const colored = sheets.filter((file) => file !== TOKENS && read(file).match(COLOR));
  expect(colored).toEqual([]);
});

test("every custom property of a style sheet is a token, or set in a style sheet or by the page", () => {
  const set = sheets
    .map(read)
    .join("\n")
    .matchAll(/(--[a-z0-9-]+):/g);
  // The columns of a table are set by the page.
  const known = new Set(["--columns", ...[...set].map(([, name]) => name)]);
  const unknown = sheets.flatMap((file) =>
    [...read(file).matchAll(/var\((--[a-z0-9-]+)/g)]
      .filter(([, name]) => !known.has(name ?? ""))
      .map(([, name]) => `${basename(file)} ${name}`),
  );
  expect(unknown).toEqual([]);
});

test("the colors of the widgets, the pictures, the flame and the app's manifest are colors of the tokens", () => {
  const tokens = new Set(read(TOKENS).match(COLOR));
  const files = [
    ...globSync("clients/widget/**/*.ts", { cwd: SRC }),
    "extensions/permalinks/picture/share-picture.ts",
    "clients/dashboard/flame.svg",
    "clients/dashboard/public/manifest.webmanifest",
    "clients/dashboard/worker/draw-icons.mjs",
  ];
  const used = files.flatMap((file) => read(file).match(/#[0-9a-f]{6}\b/gi) ?? []);
  expect(used.length).toBeGreaterThan(5);
  expect(used.filter((color) => !tokens.has(color))).toEqual([]);
});
