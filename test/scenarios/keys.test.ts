import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { WebSocket } from "ws";
import { TicketResponse } from "../../src/http/index.ts";
import { CLOSE_CODES } from "../../src/protocol/index.ts";
import { runCli, spawnCli } from "../cli/spawn-cli.ts";

test("[K7] what flarewire keys makes opens a running server, what it revokes is closed, and nothing of it is ever logged", async () => {
  const directory = mkdtempSync(join(tmpdir(), "flarewire-keys-scenario-"));
  const file = join(directory, "keys.json");
  const add = async () => (await runCli(["keys", "add", "--file", file])).stdout.trim();
  const key = await add();
  const serve = [
    "serve",
    "--keys",
    file,
    "--port",
    "0",
    "--warmup",
    "0",
    "--drain",
    "0",
    "--log-level",
    "trace",
  ];
  await using server = spawnCli([...serve, "--anonymous", "off"]);
  await server.said("stdout", "flarewire serves ");
  const base = /http:\S+/.exec(server.stdout())?.[0] ?? "";
  const bearer = (text: string) => ({ headers: { authorization: `Bearer ${text}` } });
  const flares = async (options?: RequestInit) => (await fetch(`${base}/api/v1/flares`, options)).status;
  const ticket = async () => {
    const answer = await fetch(`${base}/api/v1/tickets`, { method: "POST", ...bearer(key) });
    return TicketResponse.parse(await answer.json()).ticket;
  };
  expect([await flares(), await flares(bearer(key)), await flares(bearer(`${key}x`))]).toEqual([
    401, 200, 401,
  ]);
  const [used, unused] = [await ticket(), await ticket()];
  const socket = new WebSocket(
    `${base.replace("http", "ws")}/api/v1/stream?channels=flares.pro&ticket=${used}`,
  );
  await once(socket, "message");
  for (const path of [
    `flares?key=${key}`,
    `events?ticket=${used}`,
    `nothing?ticket=${unused}`,
    `events?after=${key}`,
  ]) {
    await fetch(`${base}/api/v1/${path}`, bearer(key));
  }
  const closed = once(socket, "close");
  const second = await add();
  expect(await runCli(["keys", "revoke", "--file", file, key])).toMatchObject({ code: 0 });
  expect((await closed)[0]).toBe(CLOSE_CODES.unauthorised.code);
  expect([await flares(bearer(key)), await flares(bearer(second))]).toEqual([401, 200]);
  server.child.kill("SIGTERM");
  expect(await server.ended()).toBe(0);
  const log = server.stderr();
  expect(log).toContain("the connections of a key are closed");
  for (const secret of [key, second, used, unused]) expect(log).not.toContain(secret.slice(13));
  rmSync(directory, { recursive: true, force: true });
});

test("a server whose file of keys is broken does not start, and says why", async () => {
  const { code, stderr } = await runCli(["serve", "--keys", "package.json", "--port", "0", "--warmup", "0"]);
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /package\.json: the file has "name".*which nobody knows; there are keys|package\.json: keys is missing/,
  );
});
