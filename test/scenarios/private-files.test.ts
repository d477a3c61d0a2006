import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SECRET } from "../alerts/webhook-fixture.ts";
import { newDirectory, startLeader } from "../support/edges.ts";

/**
 * All below a directory, the directory included, with the permissions that others than the owner
 * have.
 */
function permissions(directory: string): ReadonlyMap<string, number> {
  const paths = readdirSync(directory, { recursive: true, encoding: "utf8" });
  return new Map([".", ...paths].map((path) => [path, statSync(join(directory, path)).mode & 0o077]));
}

test("files that a gateway stores, records and queues are readable by their owner only", async ({
  onTestFinished,
}) => {
  const directory = newDirectory(onTestFinished);
  const [data, record, alerts] = ["data", "recordings", "alerts.json"].map((name) => join(directory, name));
  const rules = [{ name: "all", channels: ["*"] }];
  const webhook = { id: "desk", url: "http://127.0.0.1:9/", secret: SECRET, rules };
  writeFileSync(alerts ?? "", JSON.stringify({ webhooks: [webhook] }));
  // Without it the test would show nothing: by default others may read what this process makes.
  expect(statSync(alerts ?? "").mode & 0o044).not.toBe(0);
  const gateway = await startLeader(onTestFinished, { data, record, alerts });
  const running = permissions(data ?? "");
  await gateway.stop();
  const kept = [...running, ...permissions(data ?? "")];
  const recorded = permissions(record ?? "");
  const names = [...kept, ...recorded].map(([name]) => name).join("\n");
  for (const part of [
    /^events-.*\.sqlite$/m,
    /-wal$/m,
    /^alerts-.*\.sqlite$/m,
    /\.ndjson\.gz$/m,
    /manifest\.json$/m,
  ])
    expect(names).toMatch(part);
  expect([...kept, ...recorded].filter(([, others]) => others !== 0)).toEqual([]);
});
