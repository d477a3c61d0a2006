import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { webhookFile } from "../extensions/alerts/webhook-fixture.ts";
import { newDirectory, startLeader } from "../support/servers/edges.ts";

/** Returns the permissions of users other than the owner, for the directory and all files below. */
function permissions(directory: string): ReadonlyMap<string, number> {
  const paths = readdirSync(directory, { recursive: true, encoding: "utf8" });
  return new Map([".", ...paths].map((path) => [path, statSync(join(directory, path)).mode & 0o077]));
}

test("a gateway's stored, recorded and queued files are accessible only to their owner", async ({
  onTestFinished,
}) => {
  const directory = newDirectory(onTestFinished);
  const [data, record, alerts] = ["data", "recordings", "alerts.json"].map((name) => join(directory, name));
  const rules = [{ name: "all", channels: ["*"] }];
  writeFileSync(alerts ?? "", webhookFile({ url: "http://127.0.0.1:9/", rules }));
  // By default, others may read the files of this process; otherwise the test would prove nothing.
  expect(statSync(alerts ?? "").mode & 0o044).not.toBe(0);
  const gateway = await startLeader(onTestFinished, { data, record, alerts });
  const running = permissions(data ?? "");
  await gateway.stop();
  const stored = [...running, ...permissions(data ?? "")];
  const recorded = permissions(record ?? "");
  const names = [...stored, ...recorded].map(([name]) => name).join("\n");
  for (const part of [
    /^events-.*\.sqlite$/m,
    /-wal$/m,
    /^alerts-.*\.sqlite$/m,
    /\.ndjson\.gz$/m,
    /manifest\.json$/m,
  ])
    expect(names).toMatch(part);
  expect([...stored, ...recorded].filter(([, others]) => others !== 0)).toEqual([]);
});
