import { cpSync, globSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundle, PACKED_INSIDE } from "./bundle.ts";
import { contractTypes } from "./contract-types.ts";

/*
 * `npm run build` runs this after the compiler has written the declarations to dist. It adds the
 * JavaScript, and the files that the code reads.
 */

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const SRC = join(ROOT, "src");
const DIST = join(ROOT, "dist");

/** What package.json exports, and the modules that processes and threads start with. */
const ENTRIES = ["main", "index", "gateway/index", "extensions/permalinks/picture/draw-thread"];
const CLIENT = "clients/sdk/index";
const ASSETS = ["clients/style", "extensions/docs/site/assets", "extensions/permalinks/picture/fonts"];
/** `npm run pages` bundles these. */
const IN_PAGES = ["@preact/signals", "@preact/signals-core", "preact", "preact-render-to-string"];

const { dependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
const external = Object.keys(dependencies).filter((name) => !PACKED_INSIDE.includes(name));
const folders = await bundle(ENTRIES, { src: SRC, dist: DIST, external });
// Bundled separately, because it runs in browsers too.
await bundle([CLIENT], { src: SRC, dist: DIST, external: [] });
for (const folder of ASSETS) cpSync(join(SRC, folder), join(DIST, folder), { recursive: true });
const packages = [...folders, ...IN_PAGES.map((name) => join(ROOT, "node_modules", name))];
writeNotices(join(DIST, "THIRD-PARTY-LICENSES.txt"), packages);
await writeTypes();

/** Writes the declarations of what is exported, plainly, and deletes the others: half of them. */
async function writeTypes(): Promise<void> {
  const folders = { src: SRC, dist: DIST };
  const whole = await contractTypes(["index.d.ts", "gateway/index.d.ts"], folders, "keep");
  const client = await contractTypes([`${CLIENT}.d.ts`], folders, "drop");
  for (const file of globSync("**/*.d.ts", { cwd: DIST })) rmSync(join(DIST, file));
  const written = [...whole, ...[...client].map(([file, text]) => [join("types", file), text] as const)];
  for (const [file, text] of written) {
    mkdirSync(dirname(join(DIST, file)), { recursive: true });
    writeFileSync(join(DIST, file), text);
  }
}

/** Writes the licenses of the packages in these folders to one file. Throws if one has none. */
export function writeNotices(file: string, folders: readonly string[]): void {
  const notices = folders.map((folder) => {
    const { name, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const license = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    if (license === undefined) throw new Error(`${name} has no license file: do not bundle it`);
    return `${name} ${version}\n\n${readFileSync(join(folder, license), "utf8").trim()}\n`;
  });
  const opening = "Flarewire contains parts of these packages.\n";
  writeFileSync(file, [opening, ...notices].join(`\n${"-".repeat(78)}\n\n`));
}
