import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ReadyResponse } from "../../src/gateway/http/rest/responses.ts";
import { formatKeys } from "../../src/gateway/keys/index.ts";
import { type Finish, newDirectory, startLeader } from "../support/servers/edges.ts";

const GAUGE = /^flarewire_key_file_usable (\d)$/m;

const NOT_READY = { status: "not ready", reason: undefined };

/** Reads what an operator monitors: the status and reason of `/readyz`, and the gauge. */
async function probe(url: string) {
  const ready = await fetch(`${url}/readyz`);
  const { status, reason } = ReadyResponse.safeParse(await ready.json()).data ?? NOT_READY;
  const [, usable] = GAUGE.exec(await (await fetch(`${url}/metrics`)).text()) ?? [];
  return { status, reason, usable };
}

async function until(url: string, matches: (response: Awaited<ReturnType<typeof probe>>) => boolean) {
  let response = await probe(url);
  const check = async () => {
    if (!matches(response)) response = await probe(url);
    return matches(response) || response;
  };
  // The server checks the file once a second.
  await expect.poll(check, { interval: 100 }).toBe(true);
  return response;
}

function keyFile(onTestFinished: Finish): string {
  const file = join(newDirectory(onTestFinished), "keys.json");
  writeFileSync(file, formatKeys([]));
  return file;
}

test("/readyz and a gauge report a deleted key file until it is back", async ({ onTestFinished }) => {
  const file = keyFile(onTestFinished);
  const { url } = await startLeader(onTestFinished, { keys: file, speed: 1 });
  expect(await until(url, ({ status }) => status === "ready")).toMatchObject({ reason: "", usable: "1" });
  renameSync(file, `${file}.away`);
  const gone = await until(url, ({ reason, usable }) => !!reason && usable === "0");
  expect(gone).toEqual({
    status: "ready",
    reason: "key file is invalid; the previous keys stay in use, and changes to the file have no effect",
    usable: "0",
  });
  renameSync(`${file}.away`, file);
  expect(await until(url, ({ reason, usable }) => reason === "" && usable === "1")).toMatchObject({
    status: "ready",
  });
});

test("the gauge is absent without a key file", async ({ onTestFinished }) => {
  const { url } = await startLeader(onTestFinished, { speed: 1 });
  expect(await (await fetch(`${url}/metrics`)).text()).not.toMatch(GAUGE);
});
