import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

/*
 * `npm run packages` runs this after the build. It writes the packages `@flarewire/client`
 * and `@flarewire/react` to dist/packages, from the sources of the client and of an example.
 */

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const SRC = join(ROOT, "src");
const DIST = join(ROOT, "dist");
const HOOK = join(ROOT, "examples/use-flares.ts");
const { version, license } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));

await writeClient(join(DIST, "packages/client"));
await writeReact(join(DIST, "packages/react"));

async function writeClient(folder: string): Promise<void> {
  const guide = readFileSync(join(SRC, "clients/sdk/README.md"), "utf8");
  const chapter = guide.slice(guide.indexOf("## The client"), guide.indexOf("## In a terminal"));
  writePackage(folder, {
    name: "@flarewire/client",
    description: "Follows a Flarewire server: which tokens flare, why, and when they stop.",
    types: "./types/clients/sdk/index.d.ts",
    more: { engines: { node: ">=20" } },
    readme: named(chapter).replace("## The client for browsers and Node", "# @flarewire/client"),
    code: await bundled(join(SRC, "clients/sdk/index.ts"), []),
  });
  cpSync(join(DIST, "types"), join(folder, "types"), { recursive: true });
}

async function writeReact(folder: string): Promise<void> {
  const code = await bundled(HOOK, ["flarewire/client", "react"]);
  const [usage = ""] = /(?<=^\/\/\n\/\/ {3}).*$/m.exec(readFileSync(HOOK, "utf8")) ?? [];
  writePackage(folder, {
    name: "@flarewire/react",
    description: "A React hook with the current flares of a Flarewire server.",
    types: "./index.d.ts",
    more: {
      dependencies: { "@flarewire/client": version },
      peerDependencies: { react: ">=18" },
    },
    readme: `# @flarewire/react

\`\`\`tsx
${importing("useFlares", "@flarewire/react")}

${usage}
\`\`\`

All components share one connection, which the first one opens and the last one closes. Server rendering opens none.
`,
    code: `"use client";\n${named(code)}`,
  });
  const out = mkdtempSync(join(tmpdir(), "flarewire-types-"));
  // The hook states its types, as these flags require. The compiler reads no other file, because
  // `npm run check` checks the types.
  const alone = ["--ignoreConfig", "--isolatedDeclarations", "--noResolve", "--lib", "es5", "--types", ""];
  const emit = ["--declaration", "--emitDeclarationOnly", "--verbatimModuleSyntax", "--noCheck"];
  const target = ["--module", "nodenext", "--target", "es2024", "--rootDir", ROOT, "--outDir", out];
  execFileSync("tsc", [HOOK, ...alone, ...emit, ...target, "--singleThreaded"]);
  const types = readFileSync(join(out, "examples/use-flares.d.ts"), "utf8");
  writeFileSync(join(folder, "index.d.ts"), named(types));
  rmSync(out, { recursive: true });
}

interface PackageText {
  readonly name: string;
  readonly description: string;
  readonly types: string;
  /** More fields of package.json. */
  readonly more: object;
  readonly readme: string;
  readonly code: string;
}

function writePackage(folder: string, { name, description, types, more, readme, code }: PackageText): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const manifest = {
    name,
    version,
    description,
    license,
    type: "module",
    sideEffects: false,
    exports: { ".": { types, default: "./index.js" } },
    ...more,
  };
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
  // Other links lead to documents that the package lacks.
  const text = readme.replaceAll(/<!--.*-->\n/g, "").replaceAll(/\[([^\]]*)\]\((?!http)[^)]*\)/g, "$1");
  writeFileSync(join(folder, "README.md"), text);
  writeFileSync(join(folder, "index.js"), code);
  cpSync(join(ROOT, "LICENSE"), join(folder, "LICENSE"));
}

async function bundled(input: string, external: readonly string[]): Promise<string> {
  await using build = await rolldown({ input, platform: "neutral", external: [...external] });
  const { output } = await build.generate({ format: "es" });
  return output[0].code;
}

function importing(name: string, from: string): string {
  return `import { ${name} } from "${from}";`;
}

/** Imports the client from its own package. */
function named(text: string): string {
  return text.replaceAll("flarewire/client", "@flarewire/client");
}
