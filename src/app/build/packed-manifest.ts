import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { PACKED_INSIDE } from "./bundle.ts";

/*
 * npm runs this before it packs the project. It removes from package.json what only a clone needs.
 * After packing, npm runs it with the argument `restore`.
 */

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const MANIFEST = join(ROOT, "package.json");
/** The clone's manifest while npm packs. If it is left over, the last packing was interrupted. */
const STORED = join(ROOT, ".on-demand/package.json");

if (existsSync(STORED)) {
  writeFileSync(MANIFEST, readFileSync(STORED));
  rmSync(STORED);
}
if (process.argv[2] !== "restore") {
  const text = readFileSync(MANIFEST, "utf8");
  mkdirSync(dirname(STORED), { recursive: true });
  writeFileSync(STORED, text);
  writeFileSync(MANIFEST, `${JSON.stringify(packed(JSON.parse(text)), undefined, 2)}\n`);
}

/** Returns the manifest of the package. It needs no source, script or bundled package. */
function packed(manifest: Record<string, Readonly<Record<string, object>>>): object {
  const { scripts: _, devDependencies: _tools, allowScripts: _allowed, ...rest } = manifest;
  const { dependencies = {}, exports = {} } = rest;
  const entries = Object.entries(exports).map(([path, conditions]) => {
    const { "flarewire-source": _source, ...built } = { "flarewire-source": "", ...conditions };
    return [path, built];
  });
  const needed = Object.entries(dependencies).filter(([name]) => !PACKED_INSIDE.includes(name));
  return { ...rest, exports: Object.fromEntries(entries), dependencies: Object.fromEntries(needed) };
}
