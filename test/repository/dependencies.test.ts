import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { ALLOWED } from "./dependency-rules.ts";

const SRC = fileURLToPath(new URL("../../src/", import.meta.url));

/** Parts whose functions are pure: time and randomness are arguments. */
const PURE = ["trend", "model", "market", "protocol"];

const FILES = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter((name) => /\.tsx?$/.test(name));

/** Returns a file's text without comments, because these may mention anything. */
function code(file: string): string {
  return readFileSync(join(SRC, file), "utf8").replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
}

function importsOf(file: string): readonly string[] {
  const statements = /^(?:import|export)\s(?:[^;"]*?\sfrom\s)?"([^"]+)"|\bimport\(\s*"([^"]+)"/gm;
  return [...code(file).matchAll(statements)].flatMap((match) => match[1] ?? match[2] ?? []);
}

function violations(file: string): readonly string[] {
  const part = file.split("/")[0] ?? "";
  const allowed = ALLOWED[part];
  if (!allowed)
    return file.includes("/") && !["cli", "config", "gateway"].includes(part)
      ? [`${file}: unknown part`]
      : [];
  return importsOf(file).flatMap((target) => {
    if (!target.startsWith(".")) {
      return allowed.packages.some(
        (name) =>
          target === name || target.startsWith(`${name}/`) || (name.endsWith(":") && target.startsWith(name)),
      )
        ? []
        : [`${file} imports package ${target}`];
    }
    const other = relative(SRC, join(SRC, dirname(file), target)).split("/")[0] ?? "";
    return other === part || other === "lib" || allowed.parts.includes(other)
      ? []
      : [`${file} imports ${other}/`];
  });
}

test("every import follows the dependency rules", () => {
  expect(FILES.length).toBeGreaterThan(20);
  expect(FILES.flatMap(violations)).toEqual([]);
});

test("the pure parts use no clock, randomness, timers or I/O", () => {
  const impure =
    /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bset(Timeout|Interval|Immediate)\b|\bprocess\.|\bperformance\./;
  const found = FILES.filter((file) => PURE.includes(file.split("/")[0] ?? "")).filter((file) =>
    impure.test(code(file)),
  );
  expect(found).toEqual([]);
});

test("the view that clients build needs no schema library at run time", () => {
  for (const file of [
    "protocol/view/view.ts",
    "protocol/view/change.ts",
    "protocol/channels.ts",
    "protocol/cursor.ts",
  ]) {
    const runtime = [...code(file).matchAll(/^import (?!type)[^;]*from "([^"]+)"/gm)].map(
      (match) => match[1],
    );
    expect(
      runtime.filter((target) => !/key-of|channels|change\.ts/.test(target ?? "")),
      file,
    ).toEqual([]);
  }
});

test("from other parts, the client imports at run time only protocol modules without a schema library", () => {
  const free = ["view/view", "view/change", "channels", "cursor", "reconnect"].map(
    (name) => `protocol/${name}.ts`,
  );
  const own = FILES.filter((file) => file.startsWith("client/"));
  expect(own.length).toBeGreaterThan(10);
  for (const file of own) {
    const text = code(file);
    const runtime = [...text.matchAll(/^(?:import|export) (?!type)[^;]*?from "(\.\.[^"]+)"/gm)].map(
      (match) => match[1],
    );
    expect(
      runtime
        .map((target) => join(dirname(file), target ?? ""))
        .filter((target) => !target.startsWith("client/") && !free.includes(target)),
      file,
    ).toEqual([]);
  }
});
