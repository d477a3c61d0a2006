import { once } from "node:events";
import { expect, type OnTestFinishedHandler, test } from "vitest";
import { WebSocket } from "ws";
import { CLOSE_CODES } from "../../../src/base/protocol/index.ts";
import { IS_SOAK, shareOf } from "../../support/law-runs.ts";
import { spawnCommand } from "./spawn-cli.ts";

/** Enough clients for a drain that lasts longer than npm takes to forward a signal. */
const CLIENTS = 12;
const DRAINED = Array.from({ length: CLIENTS }, () => CLOSE_CODES.draining.code);

const SCRIPTS = [
  ["npm start", ["start", "--"]],
  ["npm run flarewire -- serve", ["run", "flarewire", "--", "serve"]],
] as const;

/** Starts the program through npm, in its own process group, and connects clients. */
async function serveThroughNpm(
  script: readonly string[],
  onTestFinished: (handler: OnTestFinishedHandler) => void,
  program = "npm",
) {
  const args = [...script, "--port", "0", "--warmup", "0", "--drain", "3s"];
  const cli = spawnCommand(program, args, {}, { detached: true });
  const npmEnded = once(cli.child, "exit");
  const { pid } = cli.child;
  if (pid === undefined) throw new Error("npm did not start");
  onTestFinished(async () => {
    try {
      process.kill(-pid, "SIGKILL");
    } catch {
      // The group has ended.
    }
    await cli.ended();
  });
  await cli.said("stdout", "; Ctrl-C stops");
  const [, host = ""] = /serves http:(\S+) /.exec(cli.stdout()) ?? [];
  const clients = Array.from(
    { length: CLIENTS },
    () => new WebSocket(`ws:${host}/api/v1/stream?channels=status`),
  );
  const closed = Promise.all(clients.map((client) => once(client, "close").then(([code]) => code)));
  await Promise.all(clients.map((client) => once(client, "message")));
  return { npmEnded, pid, closed };
}

test.for(shareOf(SCRIPTS))(
  "SIGTERM to `%s` drains the program, and npm ends with its exit code 0",
  async ([, script], { onTestFinished }) => {
    const { npmEnded, pid, closed } = await serveThroughNpm(script, onTestFinished);
    process.kill(pid, "SIGTERM");
    expect(await npmEnded).toEqual([0, null]);
    expect(await closed).toEqual(DRAINED);
  },
);

test.for(shareOf(["SIGINT", "SIGTERM"] as const))(
  "%s to the process group, which npm forwards a second time, counts once: the program drains and ends with 0",
  async (signal, { onTestFinished }) => {
    const { npmEnded, pid, closed } = await serveThroughNpm(["start", "--"], onTestFinished);
    process.kill(-pid, signal);
    expect(await npmEnded).toEqual([0, null]);
    expect(await closed).toEqual(DRAINED);
  },
);

// The installed package's test sends SIGTERM to `npx flarewire serve` on each `npm test`.
test.runIf(IS_SOAK)(
  "SIGTERM to `npx node src/main.ts serve`, which ends only its shell, drains the program",
  async ({ onTestFinished }) => {
    const script = ["node", "src/main.ts", "serve"];
    const { pid, closed } = await serveThroughNpm(script, onTestFinished, "npx");
    process.kill(pid, "SIGTERM");
    expect(await closed).toEqual(DRAINED);
  },
);
