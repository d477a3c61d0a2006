import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { cp, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const run = promisify(execFile);

/** A clone's files as they are now: packing builds anew what other tests are being served from. */
async function copyOfSources(folder: string): Promise<string> {
  const clone = join(folder, "clone");
  const { stdout } = await run("git", ["ls-files", "-co", "--exclude-standard", "-z"], { cwd: ROOT });
  for (const file of stdout.split("\0")) {
    if (file !== "" && existsSync(join(ROOT, file))) await cp(join(ROOT, file), join(clone, file));
  }
  await symlink(join(ROOT, "node_modules"), join(clone, "node_modules"));
  return clone;
}

test("the package, packed and installed elsewhere, serves with no sources and no build", {
  timeout: 180_000,
}, async ({ onTestFinished }) => {
  const folder = await mkdtemp(join(tmpdir(), "flarewire-pack-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const clone = await copyOfSources(folder);
  const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", folder], { cwd: clone });
  const packed = JSON.parse(stdout.slice(stdout.search(/^\[/m))) as {
    filename: string;
    files: { path: string }[];
  }[];
  const paths = (packed[0]?.files ?? []).map(({ path }) => path);
  expect(paths).toContain("dist/main.js");
  expect(paths).toContain("dist/dashboard/index.html");
  expect(paths).toContain("dist/widget/widget.js");
  expect(paths).toContain("examples/data/2017-11-12.csv.gz");
  const own = paths.filter((path) => /^(src|test|examples\/[^/]*$)/.test(path)).sort();
  // What the README links to, and no source.
  expect(own).toEqual([
    "examples/bot.ts",
    "examples/discord.ts",
    "examples/embed.ts",
    "examples/follow.py",
    "examples/follow.sh",
    "examples/grafana-dashboard.json",
    "examples/paper-trade.ts",
    "examples/poll.ts",
    "examples/telegram.ts",
    "src/alerts/ALERTS.md",
    "src/feed/RECORDING.md",
    "src/protocol/PROTOCOL.md",
  ]);

  await writeFile(join(folder, "package.json"), JSON.stringify({ name: "user", private: true }));
  await run("npm", ["install", "--no-audit", "--no-fund", "--prefer-offline", `./${packed[0]?.filename}`], {
    cwd: folder,
  });
  await expect(
    run(
      process.execPath,
      [
        "--input-type=module",
        "-e",
        'import { startGateway } from "flarewire"; console.log(typeof startGateway)',
      ],
      { cwd: folder },
    ),
  ).resolves.toMatchObject({ stdout: "function\n" });

  await expect(
    run(
      process.execPath,
      [
        "--input-type=module",
        "-e",
        'import { connect } from "flarewire/client"; const stream = connect("http://127.0.0.1:9"); stream.close(); console.log(stream.connection.state)',
      ],
      { cwd: folder },
    ),
  ).resolves.toMatchObject({ stdout: "closed\n" });

  const bin = join(folder, "node_modules", ".bin", "flarewire");
  const server = spawn(bin, ["serve", "--port", "0", "--log-level", "error"], {
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, XDG_STATE_HOME: join(folder, "state") },
  });
  onTestFinished(() => void server.kill("SIGKILL"));
  const [line] = (await once(createInterface({ input: server.stdout }), "line")) as [string];
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0];
  expect(url, line).toBeDefined();
  const health = await fetch(`${url}/healthz`);
  expect(health.status).toBe(200);
  for (const path of [
    "",
    "docs",
    "docs/events",
    "docs/protocol",
    "docs/page.js",
    "docs/page.css",
    "openapi.json",
    "asyncapi.json",
    "widget.js",
    "widgets",
  ]) {
    expect((await fetch(`${url}/${path}`)).status, path).toBe(200);
  }
  const exited = once(server, "exit");
  server.kill("SIGTERM");
  expect(await exited).toEqual([0, null]);
});
