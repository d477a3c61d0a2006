import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ReadyResponse } from "../../src/http/rest/responses.ts";
import { formatKeys } from "../../src/keys/index.ts";
import { type Finish, newDirectory, startLeader } from "../support/edges.ts";
import { startWorkerGateway } from "../support/worker-gateway.ts";

const GAUGE = /^flarewire_key_file_usable (\d)$/m;

const NOT_READY = { status: "not ready", reason: undefined };

/** What an operator's probes see: the status and reason of `/readyz`, and the gauge. */
async function probe(url: string) {
  const ready = await fetch(`${url}/readyz`);
  const { status, reason } = ReadyResponse.safeParse(await ready.json()).data ?? NOT_READY;
  const [, usable] = GAUGE.exec(await (await fetch(`${url}/metrics`)).text()) ?? [];
  return { status, reason, usable };
}

async function until(url: string, isSo: (seen: Awaited<ReturnType<typeof probe>>) => boolean) {
  let seen = await probe(url);
  const look = async () => {
    if (!isSo(seen)) seen = await probe(url);
    return isSo(seen) || seen;
  };
  // The file is looked at once a second.
  await expect.poll(look, { interval: 100 }).toBe(true);
  return seen;
}

function keyFile(onTestFinished: Finish): string {
  const file = join(newDirectory(onTestFinished), "keys.json");
  writeFileSync(file, formatKeys([]));
  return file;
}

test.for([1, 2])(
  "a key file that is deleted shows in /readyz and in a gauge until it is back, with %i processes that serve",
  async (workers, { onTestFinished }) => {
    const file = keyFile(onTestFinished);
    const { url } =
      workers === 1
        ? await startLeader(onTestFinished, { keys: file, speed: 1 })
        : await startWorkerGateway(onTestFinished, "--keys", file, "--speed", "1");
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
  },
);

test("without a key file there is no gauge", async ({ onTestFinished }) => {
  const { url } = await startLeader(onTestFinished, { speed: 1 });
  expect(await (await fetch(`${url}/metrics`)).text()).not.toMatch(GAUGE);
});
