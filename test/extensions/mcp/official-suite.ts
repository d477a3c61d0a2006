import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { registerHooks } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { startLedGateway } from "../../examples/led-gateway.ts";
import { fetchedPackage } from "../../support/setup/fetched-package.ts";
import { NOT_APPLICABLE } from "./not-applicable.ts";

const NAME = "@modelcontextprotocol/conformance";
const VERSION = "0.2.0-alpha.12";
const PROTOCOLS = ["2025-11-25", "2026-07-28"];

/**
 * Runs the official conformance suite in both protocols: against a gateway, and against one whose
 * endpoint also has the tools, prompts and resources that the suite calls. Throws if an applicable
 * scenario fails, or an inapplicable one passes. Returns one line for each run.
 */
export async function runOfficialSuite(): Promise<string> {
  const suite = fetchedPackage(NAME, VERSION);
  if (!suite) throw new Error(`npm cannot install ${NAME}@${VERSION}`);
  const folder = await mkdtemp(join(tmpdir(), "flarewire-mcp-suite-"));
  const lines: string[] = [];
  try {
    for (const server of ["flarewire", "fixtures"] as const) {
      using _served = server === "fixtures" ? serveFixtures() : undefined;
      await using gateway = await startLedGateway();
      const scenarios = Object.values(NOT_APPLICABLE[server]).flat();
      const expected = join(folder, `${server}.yaml`);
      await writeFile(expected, `server:\n${scenarios.map((name) => `  - ${name}\n`).join("")}`);
      for (const protocol of PROTOCOLS) {
        const flags = ["--suite", "all", "--spec-version", protocol, "--expected-failures", expected];
        const command = [join(suite, "dist/index.js"), "server", "--url", `${gateway.url}/mcp`, ...flags];
        const { code, output } = await run(command);
        if (code !== 0) throw new Error(`${server}, ${protocol}: ${output}`);
        const [, passed] = /^Total: (\d+) passed/m.exec(output) ?? [];
        const inapplicable = output.match(/^ {2}~ /gm)?.length ?? 0;
        lines.push(`${server}, ${protocol}: ${passed} checks passed, ${inapplicable} do not apply`);
      }
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return lines.join("\n");
}

async function run(command: readonly string[]): Promise<{ readonly code: unknown; readonly output: string }> {
  const child = spawn(process.execPath, command, { stdio: ["ignore", "pipe", "inherit"] });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, "close")]);
  return { code, output };
}

/** Adds the suite's tools, prompts and resources to the endpoint of this process's gateways. */
function serveFixtures(): Disposable {
  const hooks = registerHooks({
    resolve: (specifier, context, next) =>
      specifier === "./mcp-server.ts" && context.parentURL?.endsWith("/src/mcp/mcp-route.ts")
        ? next("./suite-server.ts", context)
        : next(specifier, context),
  });
  return { [Symbol.dispose]: () => hooks.deregister() };
}
