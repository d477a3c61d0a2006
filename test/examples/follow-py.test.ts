import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { flareStarted, greet, send, startScriptedServer } from "../cli/scripted-server.ts";
import { spawnCommand } from "../cli/spawn-cli.ts";
import { findInstalled } from "../support/debian-package.ts";
import { startLedGateway } from "./led-gateway.ts";
import { RestartingServer } from "./restarting-server.ts";

/** Debian's Python, which has Debian's packages. The first on the PATH may be another. */
const PYTHON = "/usr/bin/python3";

function hasWebsockets(): boolean {
  try {
    execFileSync(PYTHON, ["-c", "import websockets"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

const follow = (...args: string[]) =>
  spawnCommand(PYTHON, ["examples/follow.py", ...args], { PYTHONDONTWRITEBYTECODE: "1" });

test.skipIf(!existsSync(PYTHON))("without its package it says in one line what to install", async () => {
  // -S hides Debian's packages.
  await using client = spawnCommand(PYTHON, ["-S", "examples/follow.py"]);
  expect(await client.ended()).toBe(1);
  expect(client.stderr()).toMatch(/^follow\.py needs the package websockets: .*python3-websockets.*\n$/);
});

const isThere = findInstalled(hasWebsockets, "python3", "python3-websockets");

describe.skipIf(!isThere)("the client in Python (python3-websockets)", { concurrent: true }, () => {
  test("[L3] it survives a restart of the server without gaps and repeats, and a lost data directory with the documented reset", async () => {
    await using server = new RestartingServer();
    await server.start();
    await using client = follow(server.url);
    await client.said("stdout", "flare-started");
    await server.end("SIGTERM");
    await client.said("stderr", /disconnected \(42\d\d\); retrying in 0\.0 s/);
    await server.start();
    await client.said("stderr", "resumed at");
    await client.said("stdout", /(?:flare-(?:started|finished).*\n.*){4}/);
    const began = /following at (\S+)/.exec(client.stderr())?.[1] ?? "";
    const place = (cursor: string) => Number(cursor.split("-")[1]);
    const reported = [...client.stdout().matchAll(/flare-(?:started|finished) .* (\S+)\n/g)].map(
      ([, cursor]) => cursor,
    );
    const history = (await server.history()).filter((cursor) => place(cursor) > place(began));
    expect(reported).toEqual(history.slice(0, reported.length));
    expect(client.stderr()).not.toContain("reset");

    await server.end("SIGKILL");
    server.loseData();
    await server.start();
    await client.said("stderr", "reset, some events lost (epoch-changed), at ");
    const [epoch] = (/\(epoch-changed\), at (\S+)/.exec(client.stderr())?.[1] ?? "").split("-");
    expect(epoch).not.toBe(began.split("-")[0]);
    await client.said("stdout", new RegExp(`flare-started .* ${epoch}-`));
  });

  test("[L3] it resumes after a lost connection, and misses and repeats nothing", async () => {
    await using gateway = await startLedGateway();
    await using client = follow(gateway.url);
    await client.said("stderr", "following at ");
    gateway.start("ONE");
    await client.said("stdout", "ONE");
    gateway.cut();
    gateway.start("TWO");
    gateway.finish("TWO");
    await client.said("stderr", "resumed at ");
    gateway.start("THREE");
    await client.said("stdout", "THREE");
    const reported = [...client.stdout().matchAll(/flare-(\w+) (\w+)/g)].map(
      ([, what, symbol]) => `${what} ${symbol}`,
    );
    expect(reported).toEqual(["started ONE", "started TWO", "finished TWO", "started THREE"]);
    expect(client.stderr()).toMatch(/disconnected \(1006\); retrying in [12]\.\d s/);
  });

  test("[W17] [W31] it leaves a silent connection at the server's limit, and a draining server at its turn, and reconnects at once with its cursor", async () => {
    await using server = await startScriptedServer();
    await using client = follow(server.url);
    const first = await server.next();
    const running = {
      flares: { pro: [{ started_trending_at: "T", recent_price_change: 9, token: { symbol: "ON\u001BE" } }] },
    };
    greet(first.socket, { cursor: "abcd-6", resumed: "reset", snapshot: running }, { silence_limit_ms: 200 });
    const second = await server.next();
    expect(second.query.get("after")).toBe("abcd-6");
    greet(second.socket, { cursor: "abcd-6", resumed: "full" });
    send(second.socket, flareStarted(7, "A\u009BB"));
    send(second.socket, { type: "goaway", reason: "draining", reconnect_after_ms: 100, window_ms: 100 });
    const third = await server.next();
    expect(third.query.get("after")).toBe("abcd-7");
    expect(client.stdout()).toBe(
      "T flare-running ON?E 9 % abcd-6\n2017-11-12T08:21:00.000Z flare-started A?B 9 % abcd-7\n",
    );
    expect(client.stderr().match(/retrying in 0\.0 s/g)).toHaveLength(2);
  });

  test("[W26] the close code decides whether it stops, waits or reconnects at once", async () => {
    await using server = await startScriptedServer();
    await using client = follow(server.url, "abcd-5");
    const first = await server.next();
    expect(first.query.get("after")).toBe("abcd-5");
    greet(first.socket, { cursor: "abcd-6", resumed: "full" });
    first.socket.close(4_201);
    const second = await server.next();
    greet(second.socket, { cursor: "abcd-6", resumed: "full" });
    second.socket.close(4_101);
    const third = await server.next();
    expect(client.stderr()).toMatch(/\(4201\); retrying in 0\.0 s\s[\s\S]*\(4101\); retrying in [12]\.\d s/);
    third.socket.close(4_000);
    expect(await client.ended()).toBe(1);
    expect(client.stderr()).toContain("the server rejected this client: received 4000");
  });

  test("[W3] after a rejection over HTTP it waits for Retry-After, or stops if a retry is useless", async () => {
    await using server = await startScriptedServer();
    server.refuse = { status: 503, headers: { "Retry-After": "2" }, body: "busy" };
    await using client = follow(server.url);
    await client.said("stderr", /retrying in [23]\.\d s/);
    server.refuse = { status: 400, body: "wrong" };
    expect(await client.ended()).toBe(1);
    expect(client.stderr()).toMatch(/rejected this client: .*400/);
  });
});
