import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const SRC = join(ROOT, "src");

/** The packages of src, and the most lines of TypeScript that each may have. */
export const LIMITS: Readonly<Record<string, number>> = {
  base: 5_500,
  engine: 7_500,
  gateway: 15_000,
  feeds: Number.POSITIVE_INFINITY,
  extensions: Number.POSITIVE_INFINITY,
  scale: Number.POSITIVE_INFINITY,
  clients: Number.POSITIVE_INFINITY,
  app: Number.POSITIVE_INFINITY,
};

/** An import of one package by another: from → to. */
export type Arrow = `${string} → ${string}`;

/** Returns the TypeScript files of src. Their paths are relative to src. */
export function sources(): readonly string[] {
  return readdirSync(SRC, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => name.replaceAll("\\", "/"));
}

const packageOf = (file: string) => (file.includes("/") ? (file.split("/")[0] ?? "") : file);

/** Returns the lines of TypeScript of each package, tests not included. */
export function linesByPackage(): Readonly<Record<string, number>> {
  const lines: Record<string, number> = {};
  for (const file of sources()) {
    const name = packageOf(file);
    lines[name] = (lines[name] ?? 0) + readFileSync(join(SRC, file), "utf8").split("\n").length - 1;
  }
  return lines;
}

/** Returns the files of src that a file with this text imports. Their paths are relative to src. */
export function importedBy(file: string, text: string): readonly string[] {
  const statements = /^(?:import|export)\s(?:[^;"]*?\sfrom\s)?"(\.[^"]+)"|\bimport\(\s*"(\.[^"]+)"/gm;
  const code = text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
  return [...code.matchAll(statements)].map(([, plain, dynamic]) =>
    relative(SRC, join(SRC, dirname(file), plain ?? dynamic ?? "")).replaceAll("\\", "/"),
  );
}

/** Returns the arrows between packages, each with the number of imports. */
export function arrows(): ReadonlyMap<Arrow, number> {
  const counts = new Map<Arrow, number>();
  for (const file of sources()) {
    for (const target of importedBy(file, readFileSync(join(SRC, file), "utf8"))) {
      const [from, to] = [packageOf(file), packageOf(target)];
      if (from === to) continue;
      const arrow: Arrow = `${from} → ${to}`;
      counts.set(arrow, (counts.get(arrow) ?? 0) + 1);
    }
  }
  return counts;
}

/** Returns how many files of src a module loads, itself included. */
export function filesLoadedBy(module: string): number {
  const program = `
    import { registerHooks } from "node:module";
    const seen = new Set();
    registerHooks({ load: (url, context, next) => {
      if (url.startsWith(${JSON.stringify(`file://${SRC}/`)})) seen.add(url);
      return next(url, context);
    } });
    await import(${JSON.stringify(`file://${join(SRC, module)}`)});
    process.stdout.write(String(seen.size));
    process.exit();`;
  const args = ["--input-type=module", "--eval", program];
  return Number(execFileSync(process.execPath, args, { encoding: "utf8" }));
}
