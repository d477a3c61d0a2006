import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { type RunningCli, spawnCommand } from "../app/cli/spawn-cli.ts";
import { findInstalled } from "../support/setup/debian-package.ts";
import { Queue } from "../support/time/waiters.ts";
import { startLedGateway } from "./led-gateway.ts";
import { RestartingServer } from "./restarting-server.ts";

const CURL = "/usr/bin/curl";

/** Starts the script. It is ended by SIGTERM, because SIGKILL would leave its curl running. */
function follow(args: readonly string[], environment: Record<string, string> = {}): RunningCli {
  const running = spawnCommand("bash", ["examples/follow.sh", ...args], environment);
  const dispose = async () => {
    running.child.kill("SIGTERM");
    await running.ended();
  };
  return { ...running, [Symbol.asyncDispose]: dispose };
}

/** Starts a server of server-sent events whose responses the test writes. */
async function startScriptedStreams() {
  const arrived = new Queue<{ response: ServerResponse; lastEventId: string | undefined }>("a request");
  const server = createServer(({ headers }, response) => {
    arrived.push({ response, lastEventId: headers["last-event-id"]?.toString() });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    next: () => arrived.next(),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function subscribe(response: ServerResponse, id: string, event = "subscribed"): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(
    `retry: 1000\n\nevent: hello\ndata: {}\n\nevent: ${event}\nid: ${id}\ndata: {"at":"${id}"}\n\n`,
  );
}

const isThere = findInstalled(() => existsSync(CURL), "curl");

describe.skipIf(!isThere)("the client with curl", { concurrent: true }, () => {
  test("[S4] [S5] after a restart of the server it continues without gaps or repeats, and after lost data it reports a reset", async () => {
    await using server = new RestartingServer();
    await server.start();
    await using client = follow([server.url]);
    await client.said("stdout", "flare-started");
    await server.stop();
    await client.said("stderr", "disconnected (resume); retrying at once\n");
    await server.start();
    await client.said("stderr", /subscribed at[\s\S]*subscribed at/);
    await client.said("stdout", /(?:"name":"flare-[\s\S]*){4}\n/);
    const lines = client.stdout().trim().split("\n");
    const messages = lines.map((line): { type: string; cursor: string; resumed?: string } =>
      JSON.parse(line),
    );
    expect(messages.flatMap(({ resumed }) => resumed ?? [])).toEqual(["reset", "full"]);
    const began = messages[0]?.cursor ?? "";
    const seqOf = (cursor: string) => Number(cursor.split("-")[1]);
    const reported = messages.filter(({ type }) => type === "event").map(({ cursor }) => cursor);
    const history = (await server.history()).filter((cursor) => seqOf(cursor) > seqOf(began));
    expect(reported).toEqual(history.slice(0, reported.length));

    await server.loseData();
    await server.start();
    await client.said("stdout", '"lost":{"reason":"epoch-changed","events":null}');
    await client.said("stderr", "reset at ");
  });

  test("[S8] it resumes after a lost connection without gaps or repeats", async () => {
    await using gateway = await startLedGateway();
    await using client = follow([gateway.url]);
    await client.said("stderr", /subscribed at \S+; waiting for flares/);
    gateway.start("ONE");
    await client.said("stdout", "ONE");
    gateway.cut();
    gateway.start("TWO");
    gateway.surge("TWO");
    gateway.finish("TWO");
    await client.said("stderr", /subscribed at[\s\S]*subscribed at /);
    gateway.start("THREE");
    await client.said("stdout", "THREE");
    const reported = [...client.stdout().matchAll(/"name":"flare-(\w+)".*"symbol":"(\w+)"/g)].map(
      ([, what, symbol]) => `${what} ${symbol}`,
    );
    expect(reported).toEqual(["started ONE", "started TWO", "surged TWO", "finished TWO", "started THREE"]);
    expect(client.stderr()).toMatch(/disconnected \(backoff\); retrying in [12]\.\d+ s/);
  });

  test("[S4] [S8] [W17] [W26] it drops a silent connection, obeys the action of close, and always resumes with the last id", async () => {
    await using server = await startScriptedStreams();
    await using client = follow([server.url, "abcd-4"], { SILENCE_S: "3" });
    const first = await server.next();
    expect(first.lastEventId).toBe("abcd-4");
    subscribe(first.response, "abcd-5");
    const second = await server.next();
    expect([second.lastEventId, client.stderr()]).toEqual([
      "abcd-5",
      expect.stringMatching(/\(backoff\); retrying in [12]\./),
    ]);
    subscribe(second.response, "abcd-6");
    second.response.end('event: close\ndata: {"action":"resume"}\n\n');
    const third = await server.next();
    expect(third.lastEventId).toBe("abcd-6");
    subscribe(third.response, "efgh-1", "reset");
    // The client ignores an incomplete event, so it resumes before it.
    third.response.end('event: flare-started\nid: efgh-2\ndata: {"cut":"off"}\n');
    const fourth = await server.next();
    expect(fourth.lastEventId).toBe("efgh-1");
    subscribe(fourth.response, "efgh-2");
    fourth.response.end('event: close\ndata: {"action":"stop"}\n\n');
    expect(await client.ended()).toBe(1);
    expect(client.stdout()).not.toContain("cut");
  });

  test("[S9] after a rejection it waits for Retry-After, or prints the reason and stops", async () => {
    await using server = await startScriptedStreams();
    await using client = follow([server.url]);
    (await server.next()).response.writeHead(503, { "Retry-After": "2" }).end('{"title":"busy"}');
    await client.said("stderr", /\{"title":"busy"\}\ndisconnected \(backoff\); retrying in [23]\.\d+ s/);
    (await server.next()).response.writeHead(400).end('{"title":"wrong\u001B"}');
    expect(await client.ended()).toBe(1);
    expect(client.stderr()).toMatch(/\{"title":"wrong\?"\}\nthe server rejected this client: status 400\n$/);
  });
});
