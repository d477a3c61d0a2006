import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** A copy of an integration's package, as installed, but with the client's sources. */
export class IntegrationPackage implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), "flarewire-integration-"));

  constructor(name: "node-red" | "n8n") {
    cpSync(join(ROOT, "examples/integrations", name), this.folder, { recursive: true });
    const client = join(this.folder, "node_modules/@flarewire/client");
    mkdirSync(client, { recursive: true });
    const source = pathToFileURL(join(ROOT, "src/clients/sdk/index.ts")).href;
    writeFileSync(join(client, "package.json"), '{"type":"module","exports":"./index.js"}');
    writeFileSync(join(client, "index.js"), `export * from ${JSON.stringify(source)};\n`);
  }

  /** Loads a file of the package, as a CommonJS host does. */
  load(file: string): unknown {
    return createRequire(join(this.folder, "package.json"))(`./${file}`);
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
