import { expect, test } from "vitest";
import { spawnCli } from "../cli/spawn-cli.ts";
import { NoNetwork } from "./no-network.ts";

/** Each of three WebSockets is tried at the start, and again some times after it failed. */
const TRIES = 12;

test("without a network, every line that serve --feed live writes to stderr is a JSON log line", async () => {
  await using network = await NoNetwork.open();
  await using server = spawnCli(["serve", "--port", "0", "--drain", "0", ...network.flags]);
  await server.said("stdout", /serves http/);
  await network.sockets.triedTimes(TRIES);
  server.child.kill("SIGTERM");
  expect(await server.ended()).toBe(0);
  const lines = server.stderr().trimEnd().split("\n");
  expect(lines.length).toBeGreaterThan(5);
  for (const line of lines) expect(() => JSON.parse(line), line).not.toThrow();
});
