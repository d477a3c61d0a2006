import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import type { Snapshot } from "../../../src/base/model/index.ts";
import { CHANNELS } from "../../../src/base/protocol/index.ts";
import { createConfig, startGateway } from "../../../src/index.ts";
import { shownLists } from "../../support/expect/shown-lists.ts";
import { freePort } from "../../support/servers/free-port.ts";
import { hasten } from "./stream-group.ts";
import { type Followed, range, test } from "./stream-kit.ts";

/** Checks law L2: at the cursor of a REST response, the stream's view equals that response. */
async function expectOneState(url: string, { stream, until }: Followed): Promise<void> {
  const views = new Map<string, unknown>([[`${stream.cursor}`, stream.view]]);
  const note = () => views.set(`${stream.cursor}`, stream.view);
  const offs = [stream.on("event", note), stream.on("reset", note)];
  const response = await fetch(`${url}/api/v1/snapshot`);
  const { cursor, observed_at: _observed, ...lists } = (await response.json()) as Record<string, unknown>;
  const seqOf = (text: unknown) => Number(String(text).split("-")[1]);
  await until(() => seqOf(stream.cursor) >= seqOf(cursor));
  for (const off of offs) off();
  expect(shownLists(views.get(String(cursor)) as Snapshot)).toEqual(lists);
}

test("[L2] [L3] [W31] through a drain and a restart every stream continues in the same epoch, without gaps or repeats", {
  // Four streams and two servers take minutes on a busy machine.
  timeout: 600_000,
}, async ({ proxyTo, start, onTestFinished }) => {
  const data = mkdtempSync(join(tmpdir(), "flarewire-sdk-"));
  onTestFinished(() => rmSync(data, { recursive: true, force: true }));
  const config = createConfig({
    port: await freePort(),
    logLevel: "silent",
    feed: "replay",
    warmup: "0s",
    speed: 300,
    data,
    drain: "1s",
    // Node's WebSocket inflates one message per turn, which is too slow on a busy machine.
    compression: false,
  });
  const first = await startGateway(config);
  onTestFinished(() => first.stop());
  const proxy = await proxyTo(Number(new URL(first.url).port));
  const transports = ["websocket", "sse", "poll", "auto"] as const;
  // Slower than HASTE: a busy machine can be silent for longer than the accelerated limit.
  const given = { channels: CHANNELS, platform: hasten(10), firstMessageMs: 1_000_000 };
  const all = transports.map((transport) => start(proxy.url, { ...given, transport }));
  for (const { until, seqs } of all) await until(() => seqs().length > 20);
  await first.stop();
  const second = await startGateway(config);
  onTestFinished(() => second.stop());
  const seq = second.head.cursor.seq;
  for (const followed of all) {
    await followed.until(() => (followed.seqs().at(-1) ?? 0) > seq + 20);
    await expectOneState(second.url, followed);
    // Another reset could hide a gap.
    expect(followed.resets()).toEqual(["started"]);
    const seqs = followed.seqs();
    expect(seqs).toEqual(range(seqs[0] ?? 0, seqs.at(-1) ?? 0));
  }
});
