import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { startScriptedServer } from "../app/cli/scripted-server.ts";
import { spawnCommand } from "../app/cli/spawn-cli.ts";
import { hasPython, PYTHON, spawnPython } from "../clients/python/python-client.ts";
import { startLedGateway } from "./led-gateway.ts";
import { RestartingServer } from "./restarting-server.ts";

const follow = (...args: string[]) => spawnPython("examples/follow.py", ...args);

describe.skipIf(!hasPython)("the client in Python (python3-aiohttp)", { concurrent: true }, () => {
  test("without aiohttp it says in one line what to install", async () => {
    // -S hides Debian's packages.
    await using client = spawnPython("-S", "examples/follow.py");
    expect(await client.ended()).toBe(1);
    expect(client.stderr()).toMatch(/^flarewire needs aiohttp: apt install python3-aiohttp, or .*\n$/);
  });

  test("without a server it says in a line per attempt which address is wrong, why, and when it retries", async () => {
    // Nothing listens on port 1.
    await using client = follow("http://127.0.0.1:1");
    const lines =
      /^(?:connecting by websocket\nwaiting by websocket: no answer from 127\.0\.0\.1:1: connection refused; retrying in \d\.\d s\n){2}/;
    await client.said("stderr", lines);
  });

  test("it says that the server refused it, and why", async () => {
    await using server = await startScriptedServer();
    const headers = { "Content-Type": "application/problem+json" };
    server.refuse = { status: 403, headers, body: '{"detail":"the key does not allow it"}' };
    await using client = follow(server.url);
    expect(await client.ended()).toBe(1);
    expect(client.stderr().split("\n")).toEqual([
      "connecting by websocket",
      "closed by websocket: the server refused this client",
      "the server rejected this client: HTTP 403 the key does not allow it",
      "",
    ]);
  });

  test("an empty key counts as none", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const asked = once(server, "upgrade");
    const args = ["examples/follow.py", `http://127.0.0.1:${port}`];
    await using client = spawnCommand(PYTHON, args, { FLAREWIRE_CLIENT_KEY: "" });
    const [{ headers }, socket] = await asked;
    socket.destroy();
    expect(headers).not.toHaveProperty("authorization");
    client.child.kill();
    server.close();
  });

  test("[L3] after a restart of the server it continues without gaps or repeats, and after lost data it reports a new epoch", async () => {
    await using server = new RestartingServer();
    await server.start();
    await using client = follow(server.url);
    await client.said("stdout", "flare-started");
    await server.stop();
    await client.said("stderr", /(?:the server is shutting down|close code 42\d\d); retrying at once\n/);
    await server.start();
    // A draining server refuses WebSockets, so the client may use server-sent events.
    await client.said("stderr", /retrying[\s\S]*live by \w/);
    await client.said("stdout", /(?:flare-(?:started|surged|finished).*\n.*){4}/);
    const began = /waiting for flares after (\S+)/.exec(client.stderr())?.[1] ?? "";
    const seqOf = (cursor: string) => Number(cursor.split("-")[1]);
    const reported = [...client.stdout().matchAll(/flare-(?:started|surged|finished) .* (\S+)\n/g)].map(
      ([, cursor]) => cursor,
    );
    const history = (await server.history()).filter((cursor) => seqOf(cursor) > seqOf(began));
    expect(reported).toEqual(history.slice(0, reported.length));
    expect(client.stderr()).not.toContain("epoch-changed");

    await server.loseData();
    await server.start();
    await client.said("stderr", "(epoch-changed); events lost: None");
    const [epoch] = (/after (\S+) \(epoch-changed\)/.exec(client.stderr())?.[1] ?? "").split("-");
    expect(epoch).not.toBe(began.split("-")[0]);
    await client.said("stdout", new RegExp(`flare-started .* ${epoch}-`));
  });

  test("[L3] it resumes after a lost connection without gaps or repeats", async () => {
    await using gateway = await startLedGateway();
    await using client = follow(gateway.url);
    await client.said("stderr", "waiting for flares after ");
    gateway.start("ONE");
    await client.said("stdout", "ONE");
    gateway.cut();
    gateway.start("TWO");
    gateway.surge("TWO");
    gateway.finish("TWO");
    await client.said("stderr", /retrying[\s\S]*live by websocket/);
    gateway.start("THREE");
    await client.said("stdout", "THREE");
    const reported = [...client.stdout().matchAll(/flare-(\w+) (\w+)/g)].map(
      ([, what, symbol]) => `${what} ${symbol}`,
    );
    expect(reported).toEqual(["started ONE", "started TWO", "surged TWO", "finished TWO", "started THREE"]);
    expect(client.stderr()).toMatch(/close code 1006; retrying in \d\.\d s/);
  });
});
