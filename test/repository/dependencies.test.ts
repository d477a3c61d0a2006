import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { EXTENSIONS, LIBRARIES, PACKAGES } from "./dependency-rules.ts";

const SRC = fileURLToPath(new URL("../../src/", import.meta.url));

/** Folders whose functions are pure: time and randomness are arguments. */
const PURE = ["engine/", "base/model/", "base/market/", "base/protocol/"];

const FILES = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter((name) => /\.tsx?$/.test(name));

/** Returns a file's text without comments, because these may mention anything. */
function code(file: string): string {
  return readFileSync(join(SRC, file), "utf8").replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
}

function importsOf(file: string): readonly string[] {
  const statements = /^(?:import|export)\s(?:[^;"]*?\sfrom\s)?"([^"]+)"|\bimport\(\s*"([^"]+)"/gm;
  return [...code(file).matchAll(statements)].flatMap((match) => match[1] ?? match[2] ?? []);
}

/** Returns the files of other packages that a file imports, relative to src. */
function filesImportedBy(file: string): readonly string[] {
  return importsOf(file)
    .filter((target) => target.startsWith("."))
    .map((target) => relative(SRC, join(SRC, dirname(file), target)))
    .filter((target) => target.split("/")[0] !== file.split("/")[0] || target.startsWith("extensions/"));
}

function mayImport(file: string, target: string): boolean {
  const [own = "", part = ""] = file.split("/");
  const [other = "", otherPart = ""] = target.split("/");
  if (own === other) return part === otherPart || (EXTENSIONS[part] ?? []).includes(otherPart);
  return !file.includes("/") || (PACKAGES[own] ?? []).includes(other);
}

/** Whether a file is the public face of a package or of one of its parts. */
function isFace(file: string): boolean {
  return /^[^/]+\/(?:[^/]+\/)?index\.ts$/.test(file);
}

function isSamePart(file: string, target: string): boolean {
  return file.split("/").slice(0, 2).join("/") === target.split("/").slice(0, 2).join("/");
}

function forbiddenLibraries(file: string): readonly string[] {
  const folder = Object.keys(LIBRARIES)
    .filter((name) => file.startsWith(name))
    .toSorted((one, other) => other.length - one.length)[0];
  if (folder === undefined) return file.includes("/") ? [`${file}: unknown folder`] : [];
  const allowed = LIBRARIES[folder] ?? [];
  return importsOf(file)
    .filter((target) => !target.startsWith("."))
    .filter(
      (target) =>
        !allowed.some(
          (name) =>
            target === name ||
            target.startsWith(`${name}/`) ||
            (name.endsWith(":") && target.startsWith(name)),
        ),
    )
    .map((target) => `${file} imports ${target}`);
}

test("[law 1] imports between packages run only as listed", () => {
  expect(FILES.length).toBeGreaterThan(20);
  const wrong = FILES.flatMap((file) =>
    filesImportedBy(file)
      .filter((target) => !mayImport(file, target))
      .map((target) => `${file} -> ${target}`),
  );
  expect(wrong).toEqual([]);
});

test("[law 2] other packages import only the index.ts of a package or of one of its parts", () => {
  // The modules of base are leaves: an index of all of them would load the whole package.
  const wrong = FILES.filter((file) => file.includes("/")).flatMap((file) =>
    filesImportedBy(file)
      .filter((target) => target.split("/")[0] !== "base" && !isFace(target))
      .filter((target) => !isSamePart(file, target))
      .map((target) => `${file} -> ${target}`),
  );
  expect(wrong).toEqual([]);
});

test("each folder imports only its npm packages", () => {
  expect(FILES.flatMap(forbiddenLibraries)).toEqual([]);
});

test("the pure parts use no clock, randomness, timers or I/O", () => {
  const impure =
    /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bset(Timeout|Interval|Immediate)\b|\bprocess\.|\bperformance\./;
  const found = FILES.filter((file) => PURE.some((folder) => file.startsWith(folder))).filter((file) =>
    impure.test(code(file)),
  );
  expect(found).toEqual([]);
});

test("the view that clients build needs no schema library at run time", () => {
  for (const file of [
    "base/model/groups.ts",
    "base/protocol/view/view.ts",
    "base/protocol/view/change.ts",
    "base/protocol/channels.ts",
    "base/protocol/cursor.ts",
  ]) {
    const runtime = [...code(file).matchAll(/^import (?!type)[^;]*from "([^"]+)"/gm)].map(
      (match) => match[1],
    );
    expect(
      runtime.filter((target) => !/key-of|groups|channels|change\.ts/.test(target ?? "")),
      file,
    ).toEqual([]);
  }
});

test("from other parts, the client imports at run time only protocol modules without a schema library", () => {
  const free = ["view/view", "view/change", "channels", "cursor", "reconnect"].map(
    (name) => `base/protocol/${name}.ts`,
  );
  const own = FILES.filter((file) => file.startsWith("clients/sdk/"));
  expect(own.length).toBeGreaterThan(10);
  for (const file of own) {
    const text = code(file);
    const runtime = [...text.matchAll(/^(?:import|export) (?!type)[^;]*?from "(\.\.[^"]+)"/gm)].map(
      (match) => match[1],
    );
    expect(
      runtime
        .map((target) => join(dirname(file), target ?? ""))
        .filter((target) => !target.startsWith("clients/sdk/") && !free.includes(target)),
      file,
    ).toEqual([]);
  }
});
