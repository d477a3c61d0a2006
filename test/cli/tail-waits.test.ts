import { test as base, expect } from "vitest";
import { startInProcess } from "./run-in-process.ts";
import { greet, type ScriptedServer, startScriptedServer } from "./scripted-server.ts";

const test = base.extend<{ server: ScriptedServer }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a pattern.
  server: async ({}, use) => {
    await using server = await startScriptedServer();
    await use(server);
  },
});

test("if nothing was printed for some seconds, it says what it waits for", async ({ server }) => {
  await using tail = startInProcess(["tail", server.url]);
  const { socket } = await server.next();
  greet(socket, { cursor: "abcd-6", resumed: "reset" });
  await tail.said(
    "stderr",
    "tail: waiting for events of flares.pro, newest.bsc, status; --updates prints changes of numbers too\n",
  );
  expect(tail.stdout()).toBe("");
});

test("if the server has not answered for some seconds, it says so", async ({ server }) => {
  await using tail = startInProcess(["tail", server.url]);
  await server.next();
  await tail.said("stderr", /^flarewire tail: waiting for a response from 127\.0\.0\.1:\d+\n/);
});
