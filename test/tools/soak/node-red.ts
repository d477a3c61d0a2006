import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { spawnNode } from "../../app/cli/spawn-cli.ts";
import { startLedGateway } from "../../examples/led-gateway.ts";
import { eventually } from "../../support/time/waiters.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const run = promisify(execFile);
/** Without this file, npm would install in the parent folder. */
const PROJECT = '{"private":true}';

/**
 * Installs Node-RED from npm with the built packages, and lets a flow write each started flare to a
 * file. Kills Node-RED `kills` times, with flares before, between and after. Throws unless the file
 * has each flare. Returns a summary.
 */
export async function runNodeRed(kills: number): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "flarewire-node-red-"));
  await using gateway = await startLedGateway();
  try {
    await install(folder);
    const file = join(folder, "flares.txt");
    await writeFile(file, "");
    await writeFlow(folder, gateway.url, file);
    const received = () => readFileSync(file, "utf8").split("\n").filter(Boolean);
    const expected: string[] = [];
    const start = (name: string) => {
      expected.push(name);
      gateway.start(name);
    };
    const arrived = (name: string) => eventually(() => received().includes(name), received, { what: name });
    const red = createRequire(join(folder, "package.json")).resolve("node-red/red.js");
    for (let kill = 0; kill <= kills; kill++) {
      const running = spawnNode([red, "--userDir", folder, "--port", "0"]);
      await running.said("stdout", /Started flows/);
      // The flare that started while Node-RED was down arrives first.
      const last = expected.at(-1);
      if (last === undefined) await eventually(() => isConnected(folder), received, { what: "a cursor" });
      else await arrived(last);
      start(`LIVE${kill}`);
      await arrived(`LIVE${kill}`);
      running.child.kill("SIGKILL");
      await running.ended();
      start(`DEAD${kill}`);
    }
    expected.pop();
    const twice = received().length - new Set(received()).size;
    if (JSON.stringify([...new Set(received())]) !== JSON.stringify(expected))
      throw new Error(`Node-RED received ${received().join()}; expected ${expected.join()}`);
    return `${expected.length} flares over ${kills} kills of Node-RED: none missing, ${twice} twice`;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function install(folder: string): Promise<void> {
  await run("npm", ["run", "packages"], { cwd: ROOT });
  await writeFile(join(folder, "package.json"), PROJECT);
  const own = join(folder, "own");
  await mkdir(own);
  await cp(join(ROOT, "examples/integrations/node-red"), own, { recursive: true });
  const flags = ["--no-audit", "--no-fund", "--install-links"];
  const packages = ["node-red@5", join(ROOT, "dist/packages/client"), own];
  await run("npm", ["install", ...flags, ...packages], { cwd: folder, maxBuffer: 2 ** 24 });
}

async function writeFlow(folder: string, url: string, filename: string): Promise<void> {
  const flow = [
    { id: "tab", type: "tab", label: "Flarewire" },
    { id: "server", type: "flarewire-server", url },
    {
      id: "in",
      z: "tab",
      type: "flarewire-flare-started",
      server: "server",
      channel: "flares.pro",
      wires: [["text"]],
    },
    {
      id: "text",
      z: "tab",
      type: "change",
      rules: [{ t: "set", p: "payload", to: "payload.token.symbol", tot: "msg" }],
      wires: [["out"]],
    },
    { id: "out", z: "tab", type: "file", filename, appendNewline: true, overwriteFile: "false", wires: [[]] },
  ];
  await writeFile(join(folder, "flows.json"), JSON.stringify(flow));
  await writeFile(
    join(folder, "settings.js"),
    'module.exports = { flowFile: "flows.json", uiHost: "127.0.0.1" };\n',
  );
}

function isConnected(folder: string): boolean {
  try {
    return readFileSync(join(folder, "flarewire/in.json"), "utf8") !== "";
  } catch {
    return false;
  }
}
