import { createServer } from "node:net";
import { test as base, expect } from "vitest";
import { freePort } from "../../../support/servers/free-port.ts";
import { runInProcess, startInProcess } from "../run-in-process.ts";
import { flareStarted, greet, type ScriptedServer, send, startScriptedServer } from "../scripted-server.ts";

const test = base.extend<{ server: ScriptedServer }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a pattern.
  server: async ({}, use) => {
    await using server = await startScriptedServer();
    await use(server);
  },
});

test.for([
  ["recorded", "replay", "a recorded market (replay, flarewire/test), from"],
  ["simulated", "simulated", "a simulated market (flarewire/test), from"],
] as const)("a %s market named %s is printed as %s", async ([origin, name, words], { server }) => {
  await using tail = startInProcess(["tail", server.url]);
  const { socket } = await server.next();
  greet(socket, { cursor: "abcd-6", resumed: "reset" }, { source: { origin, name } });
  await tail.said("stderr", words);
});

test("if nothing was printed for some seconds, tail says what it waits for", async ({ server }) => {
  await using tail = startInProcess(["tail", server.url]);
  const { socket } = await server.next();
  greet(socket, { cursor: "abcd-6", resumed: "reset" });
  await tail.said(
    "stderr",
    "tail: waiting for events of flares.pro, newest.bsc, status; the next flare may take some minutes; --updates prints changes of numbers too\n",
  );
  expect(tail.stdout()).toBe("");
});

test("a server that does not listen yet is waited for, with one line, and followed once it does", async () => {
  const port = await freePort();
  await using tail = startInProcess(["tail", `http://127.0.0.1:${port}`]);
  await tail.said("stderr", "; check that a Flarewire server runs there; retrying\n");
  await using server = await startScriptedServer(port);
  const { socket } = await server.next();
  greet(socket, { cursor: "abcd-6", resumed: "reset" });
  await tail.said("stderr", "from abcd-6");
  expect(tail.stderr().match(/no answer/g)).toHaveLength(1);
});

test("a server that listens but does not speak HTTP ends tail with 75", async ({ onTestFinished }) => {
  const mute = createServer((socket) => socket.destroy());
  onTestFinished(() => void mute.close());
  await new Promise<void>((resolve) => mute.listen(0, "127.0.0.1", resolve));
  const { port } = Object(mute.address());
  const { code, stdout, stderr } = await runInProcess(["tail", `http://127.0.0.1:${port}`]);
  expect({ code, stdout }).toEqual({ code: 75, stdout: "" });
  expect(stderr).toContain("; check that a Flarewire server runs there\n");
});

test("if the server has not responded for some seconds, tail says so", async ({ server }) => {
  await using tail = startInProcess(["tail", server.url]);
  await server.next();
  await tail.said("stderr", /^flarewire tail: waiting for a response from 127\.0\.0\.1:\d+\n/);
});

test("[W31] a server that shuts down is named in plain words", async ({ server }) => {
  await using tail = startInProcess(["tail", server.url]);
  const { socket } = await server.next();
  greet(socket, { cursor: "abcd-6", resumed: "reset" });
  send(socket, { type: "goaway", reason: "draining", reconnect_after_ms: 50, window_ms: 50 });
  await tail.said("stderr", "the server is shutting down; reconnecting");
  expect((await server.next()).query.get("after")).toBe("abcd-6");
  expect(tail.stderr()).not.toContain("goaway");
});

test("running flares are printed first, with age and reason, also with names, but not with --json or --after", async ({
  server,
}) => {
  const { flare, why } = flareStarted(5, "YOUNG").data;
  const since = (time: string) => ({ started_trending_at: `2017-11-12T08:${time}.000Z` });
  const old = { ...flare, ...since("11:00"), id: "id-4", token: { symbol: "OLD" } };
  const flares = { pro: [{ ...flare, ...since("19:45") }, old], free: [old] };
  const snapshot = { flares, explanations: { "id-4": why, "id-5": why } };
  const freshness = { state: "live", reason: "", data_age_ms: 0, observed_at: "2017-11-12T08:21:00.000Z" };
  const printed = async (args: readonly string[], answer: Record<string, unknown>) => {
    const url = args[0]?.startsWith("http") ? [] : [server.url];
    await using tail = startInProcess(["tail", ...url, ...args]);
    const { socket, query } = await server.next();
    expect(query.get("snapshot")).toBeNull();
    greet(socket, { cursor: "abcd-6", ...answer }, { freshness });
    send(socket, flareStarted(7, "NEXT"));
    await tail.said("stdout", "NEXT");
    return tail.stdout().split("\n").slice(0, -2);
  };
  expect(await printed([], { resumed: "reset", snapshot })).toEqual([
    "2017-11-12 08:21:00  flare-running       flares.pro         OLD             +9 %  flaring for 10 min; now: price 8.3 % above normal",
    "2017-11-12 08:21:00  flare-running       flares.pro         YOUNG           +9 %  flaring for 1 min; now: price 8.3 % above normal",
  ]);
  expect(
    await printed([`${server.url}/?names=flare-finished,token-listed`], { resumed: "reset", snapshot }),
  ).toEqual([expect.stringContaining("OLD"), expect.stringContaining("YOUNG")]);
  expect(await printed([`${server.url}/?names=token-listed`], { resumed: "reset", snapshot })).toEqual([]);
  expect(await printed(["--json"], { resumed: "reset", snapshot })).toEqual([]);
  expect(await printed(["--after", "abcd-6"], { resumed: "full" })).toEqual([]);
  const lost = { reason: "expired", events: 3 };
  expect(await printed(["--after", "abcd-2"], { resumed: "reset", lost, snapshot })).toEqual([]);
});
