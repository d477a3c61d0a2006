import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

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
