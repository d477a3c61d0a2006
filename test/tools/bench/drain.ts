import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RunningCli, spawnCli } from "../../app/cli/spawn-cli.ts";
import { BINS, type DrainServers, formatHistogram, runDrain } from "../../support/servers/drain-run.ts";
import type { Row } from "./report.ts";

const WINDOW_S = 10;
/**
 * The command's drain time includes this grace period for closing: its window is that much shorter.
 */
const GRACE_S = 2;
const ROOM = [
  ...[
    "--max-sockets-per-ip",
    "10000",
    "--anonymous-requests",
    "none",
    "--anonymous-streams",
    "none",
    "--log-level",
    "error",
  ],
] as const;

/**
 * Drains a leader with this many clients over TCP. Leader, follower and clients run in their own
 * processes. Measures how evenly the clients arrive at the follower, and whether any lost an event.
 * Prints the histogram of arrivals to standard error.
 */
export async function benchDrain(clients: number): Promise<Row[]> {
  const directory = mkdtempSync(join(tmpdir(), "flarewire-drain-"));
  const running: RunningCli[] = [];
  try {
    const serve = async (...args: readonly string[]): Promise<string> => {
      const cli = spawnCli(["serve", ...ROOM, ...args]);
      running.push(cli);
      await cli.said("stdout", "\n");
      return /http:\/\/[\d.]+:\d+/.exec(cli.stdout())?.[0] ?? "";
    };
    // A minute of the recorded market per second: one batch of some dozen events.
    const market = ["--feed", "replay", "--speed", "60", "--data", join(directory, "leader")];
    const lead = (port: string) => serve(...market, "--port", port, "--drain", `${WINDOW_S + GRACE_S}s`);
    const leaderUrl = await lead("0");
    const edgeUrl = await serve("--source", `follow:${leaderUrl}`, "--port", "0");
    const servers: DrainServers = {
      leaderUrl,
      edgeUrl,
      drainLeader: async () => {
        running[0]?.child.kill("SIGTERM");
        await running[0]?.ended();
      },
      restartLeader: async () => {
        await lead(new URL(leaderUrl).port);
      },
    };
    const result = await runDrain(servers, clients);
    process.stderr.write(formatHistogram(result));
    const { histogram, lateMs, lastArrivalMs } = result;
    const late = (share: number) =>
      lateMs[Math.min(lateMs.length - 1, Math.floor(lateMs.length * share))] ?? 0;
    const all = `all ${clients}`;
    return [
      { what: "clients that went on with their cursor", value: result.resumedFull, unit: "", aim: all },
      {
        what: "fewest arrivals in a twentieth",
        value: Math.min(...histogram.slice(0, BINS)),
        unit: "",
        aim: `${clients / 20}`,
      },
      {
        what: "most arrivals in a twentieth",
        value: Math.max(...histogram),
        unit: "",
        aim: `${clients / 20}`,
      },
      { what: "behind their own moment, median", value: late(0.5), unit: "ms", aim: "small" },
      { what: "behind their own moment, p99", value: late(0.99), unit: "ms", aim: "< 1000" },
      {
        what: "last arrival behind the signal",
        value: lastArrivalMs / 1_000,
        unit: "s",
        aim: `about ${WINDOW_S}`,
      },
      { what: "events lost or repeated", value: result.wrong, unit: "", aim: "0" },
      { what: "clients that had to start over", value: result.resets, unit: "", aim: "0" },
      { what: "events behind the move, all clients", value: result.eventsAfter, unit: "", aim: "> 0" },
      { what: "clients whose view is what REST serves", value: result.viewsEqual, unit: "", aim: all },
    ];
  } finally {
    for (const { child } of running) child.kill("SIGKILL");
    rmSync(directory, { recursive: true, force: true });
  }
}
