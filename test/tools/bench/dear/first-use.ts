import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as passing } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { LongestTurn } from "../harness/turn-meter.ts";
import type { Row } from "../report.ts";
import { attacksOn, type DearRequest } from "./attacks.ts";
import { lookAround } from "./dear.ts";

const METER = new URL("../harness/turn-meter.ts", import.meta.url);
/** Time before and after a request, so that its turns are measured whole. */
const AROUND_MS = 30;

/**
 * Measures the longest turn of the server during the first request of each kind, and during an
 * equal second one, for its wall time and its CPU time. Each round starts a new server, and the
 * least of all rounds counts, because other jobs only add to it.
 */
export async function benchFirstUse(rounds: number): Promise<Row[]> {
  const least = new Map<string, number>();
  const note = (what: string, ms: number) => least.set(what, Math.min(ms, least.get(what) ?? ms));
  for (let round = 0; round < rounds; round += 1) {
    const data = mkdtempSync(join(tmpdir(), "flarewire-first-"));
    const server = fork(fileURLToPath(new URL("market-server.ts", import.meta.url)), [data], {
      execArgv: ["--import", METER.href],
      stdio: ["pipe", "pipe", "inherit", "ipc"],
    });
    try {
      const [line] = await once(server.stdout ?? server, "data");
      const { port } = JSON.parse(String(line));
      const idle = await longestTurn(server, () => passing(1_000));
      note("nothing: CPU", idle.cpuMs);
      for (const [name, attack] of Object.entries(attacksOn(await lookAround(port)))) {
        for (const which of ["first", "second"]) {
          const { wallMs, cpuMs } = await longestTurn(server, () => ask(port, attack(0)));
          note(`${name}, ${which}: wall`, wallMs);
          note(`${name}, ${which}: CPU`, cpuMs);
        }
      }
    } finally {
      server.kill("SIGKILL");
      await once(server, "exit");
      rmSync(data, { recursive: true, force: true });
    }
  }
  return [...least].map(([what, value]) => ({
    ...{ what, value, unit: "ms" },
    aim: what.endsWith("first: CPU") ? "≤ 50" : "shown",
  }));
}

async function longestTurn(server: ChildProcess, work: () => Promise<unknown>): Promise<LongestTurn> {
  server.send("begin");
  await passing(AROUND_MS);
  await work();
  await passing(AROUND_MS);
  const answered = once(server, "message");
  server.send("end");
  const [longest]: LongestTurn[] = await answered;
  if (!longest) throw new Error("the server has no turn meter");
  return longest;
}

async function ask(port: number, { body, ...options }: DearRequest): Promise<void> {
  const [response] = await once(request({ ...options, port, host: "127.0.0.1" }).end(body), "response");
  response.resume();
  await once(response, "end");
}
