import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { Logger } from "pino";
import { loadConfig } from "../../../src/app/config/config.ts";
import { startGateway } from "../../../src/app/serve.ts";
import type { Gateway } from "../../../src/gateway/start/run-gateway.ts";
import { runInProcess } from "./run-in-process.ts";
import { spawnCommand } from "./spawn-cli.ts";

/** Starts the gateway of `flarewire serve ARGS` in the test's process, without a drain. */
export function serveInProcess(args: readonly string[], logger?: Logger): Promise<Gateway> {
  const quiet = ["--drain", "0", "--log-level", "silent"];
  const { config } = loadConfig({ args: [...args, ...quiet], presets: { data: "none" } });
  return startGateway(config, logger && { logger });
}

/**
 * Runs a bash script, which ends at the first failure. Its command `flarewire` runs in the test's
 * process, which takes a tenth of the time of a separate one, until it ends or is signaled.
 */
export async function runShell(script: string) {
  let errorText = "";
  const command = async ([name, ...args]: readonly string[], stopped: AbortSignal) => {
    if (name !== "serve") {
      const { code, stdout, stderr } = await runInProcess([name ?? "", ...args]);
      errorText += stderr;
      if (code !== 0) throw new Error(stderr);
      return stdout;
    }
    const gateway = await serveInProcess(args);
    if (!stopped.aborted) await once(stopped, "abort");
    await gateway.stop();
    errorText += "stopped\n";
    return "";
  };
  const running = new Set<Promise<void>>();
  const server = createServer(async (request, response) => {
    const stopped = new AbortController();
    response.once("close", () => stopped.abort());
    const args = (await text(request)).split("\0").slice(0, -1);
    const ended = command(args, stopped.signal).then(
      (printed) => void response.end(printed),
      (error) => void response.writeHead(500).end(`${error}`),
    );
    running.add(ended);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const programs = mkdtempSync(join(tmpdir(), "flarewire-shell-"));
  const asking = `curl -sS --fail-with-body --data-binary @<(printf '%s\\0' "$@") http://127.0.0.1:${port}`;
  writeFileSync(join(programs, "flarewire"), `#!/bin/bash\nexec ${asking}\n`, { mode: 0o755 });
  await using shell = spawnCommand("bash", ["-ec", `PATH="${programs}:$PATH"\n${script}\nwait`]);
  try {
    const code = await shell.ended();
    await Promise.all(running);
    return { code, stdout: shell.stdout(), stderr: errorText + shell.stderr() };
  } finally {
    server.closeAllConnections();
    server.close();
    rmSync(programs, { recursive: true });
  }
}
