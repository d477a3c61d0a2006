import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createLogger } from "../../src/app/server/create-logger.ts";
import { formatKeys, type Key, mintSecret } from "../../src/gateway/keys/index.ts";
import { createConfig, startGateway } from "../../src/index.ts";
import { runInProcess } from "../app/cli/run-in-process.ts";
import { spawnCli } from "../app/cli/spawn-cli.ts";
import { IndependentClient } from "../support/clients/independent-client.ts";
import { expectOneState } from "../support/expect/one-state.ts";
import { type Finish, newDirectory, seqOf, startLeader } from "../support/servers/edges.ts";
import { pumpedSettings } from "../support/world/pumped-market.ts";

const PRO = mintSecret("fw");
const FREE = mintSecret("fw");
const UNKNOWN = mintSecret("fw");

/**
 * Starts a leader with one key of each plan and no anonymous access. `revoke` removes the pro key.
 */
async function startKeyedLeader(onTestFinished: Finish) {
  const file = join(newDirectory(onTestFinished), "keys.json");
  const keyOf = ({ id, digest }: typeof PRO, plan: Key["plan"]): Key => ({
    ...{ id, sha256: digest.toString("hex"), plan },
  });
  const write = (...keys: Key[]) => writeFileSync(file, formatKeys(keys));
  write(keyOf(PRO, "pro"), keyOf(FREE, "free"));
  const leader = await startLeader(onTestFinished, {
    ...pumpedSettings(),
    // The edge logs each event.
    speed: 120,
    ...{ keys: file, anonymous: "off" },
  });
  return { leader, revoke: () => write(keyOf(FREE, "free")) };
}

/** Starts an edge in this process and collects its log lines. */
async function startEdge(onTestFinished: Finish, url: string, leaderKey: string | undefined, more = {}) {
  const lines: string[] = [];
  const config = createConfig({ port: 0, drain: "0", staleAfter: "1s", source: `follow:${url}`, ...more });
  const logger = createLogger("trace", { write: (line) => lines.push(line) });
  const edge = await startGateway(config, { logger, leaderKey, signal: AbortSignal.abort() });
  onTestFinished(() => edge.stop());
  return { edge, lines };
}

test("[F2] [K7] an edge follows a leader with the key from its environment, and reports its revocation", async ({
  onTestFinished,
}) => {
  const { leader, revoke } = await startKeyedLeader(onTestFinished);
  const args = ["--source", `follow:${leader.url}`, "--port", "0", "--data", "none", "--stale-after", "1s"];
  await using edge = spawnCli(["serve", ...args, "--drain", "0", "--log-level", "trace"], {
    FLAREWIRE_LEADER_KEY: PRO.text,
  });
  await edge.said("stdout", "flarewire serves ");
  const url = /http:[^ ]+/.exec(edge.stdout())?.[0]?.replace(/\/$/, "") ?? "";
  const client = new IndependentClient(url);
  await client.connect();
  await client.until(() => client.received.events.length > 10);
  await expectOneState(url, client);
  revoke();
  await edge.said("stderr", "the leader closed the connection: unauthorized, the key was revoked");
  const ready = async () => (await fetch(`${url}/readyz`)).text();
  await expect.poll(ready).toContain("unauthorized, the key was revoked");
  await client.disconnect();
  edge.child.kill("SIGTERM");
  expect(await edge.ended()).toBe(0);
  expect(edge.stdout() + edge.stderr()).not.toContain(PRO.text.slice(13));
});

test("[F2] [K1] [K2] an edge that its leader rejects reports the reason in its log and freshness, but never the key", async ({
  onTestFinished,
}) => {
  const { leader } = await startKeyedLeader(onTestFinished);
  for (const [key, rejection] of [
    [undefined, /^the leader rejected the connection with HTTP 401: .*key/],
    [UNKNOWN.text, /^the leader rejected the connection with HTTP 401: .*key/],
    [FREE.text, /^the leader rejected the connection with HTTP 403: .*plan/],
  ] as const) {
    const { edge, lines } = await startEdge(onTestFinished, leader.url, key);
    await expect.poll(() => edge.freshness().reason).toMatch(rejection);
    expect(edge.freshness().state).toBe("down");
    const reported = lines.filter((line) => line.includes("the leader rejected the connection with HTTP 40"));
    expect(reported).toHaveLength(1);
    for (const text of [...lines, edge.freshness().reason]) {
      if (key) expect(text).not.toContain(key.slice(13));
    }
  }
  const { edge } = await startEdge(onTestFinished, leader.url, PRO.text);
  await expect.poll(() => seqOf(edge)).toBeGreaterThan(5);
});

test("an edge with a leader key but no key file warns at its start that everyone has pro, and how to change that", async ({
  onTestFinished,
}) => {
  const { leader } = await startKeyedLeader(onTestFinished);
  const keys = join(newDirectory(onTestFinished), "edge-keys.json");
  writeFileSync(keys, formatKeys([]));
  const warnings = async (leaderKey: string | undefined, more: object) => {
    const { lines } = await startEdge(onTestFinished, leader.url, leaderKey, more);
    return lines.filter((line) =>
      /"level":"warn".*serves its leader's pro plan to everyone .*--keys FILE/.test(line),
    );
  };
  expect(await warnings(PRO.text, {})).toHaveLength(1);
  expect(await warnings(PRO.text, { keys })).toEqual([]);
  expect(await warnings(undefined, {})).toEqual([]);
});

test("an edge does not reveal its key even if the leader's rejection contains it", async ({
  onTestFinished,
}) => {
  const key = "a-key-of-another-form";
  const echo = createServer().on("upgrade", ({ headers }, socket) => {
    const body = JSON.stringify({ detail: `who is ${headers.authorization}?` });
    socket.end(`HTTP/1.1 403 Forbidden\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
  });
  await new Promise<void>((resolve) => echo.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void echo.close());
  const url = `http://127.0.0.1:${(echo.address() as AddressInfo).port}`;
  const { edge, lines } = await startEdge(onTestFinished, url, key);
  await expect
    .poll(() => edge.freshness().reason)
    .toBe("the leader rejected the connection with HTTP 403: who is Bearer ***?");
  expect(lines.join("")).not.toContain(key);
});

test("a malformed leader key is rejected at the start without being printed", async () => {
  const { code, stderr } = await runInProcess(["serve"], { FLAREWIRE_LEADER_KEY: "two words" });
  expect(code).toBe(1);
  expect(stderr).toContain("FLAREWIRE_LEADER_KEY must be a key from npm run flarewire -- keys add,");
  expect(stderr).not.toContain("two words");
});
