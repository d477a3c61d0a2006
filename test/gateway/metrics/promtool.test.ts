import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createConfig, startGateway } from "../../../src/index.ts";
import { webhookFile } from "../../extensions/alerts/webhook-fixture.ts";
import { newDirectory } from "../../support/servers/edges.ts";
import { findProgram } from "../../tools/bench/harness/on-demand.ts";

const PROMTOOL = findProgram("prometheus", "usr/bin/promtool");

test.runIf(PROMTOOL)(
  "promtool finds no fault in the metrics of a gateway with keys and webhooks",
  async ({ onTestFinished }) => {
    const data = newDirectory(onTestFinished);
    const [alerts, keys] = [join(data, "alerts.json"), join(data, "keys.json")];
    writeFileSync(alerts, webhookFile({ url: "http://127.0.0.1:9/" }));
    writeFileSync(keys, '{"keys": []}');
    const given = { port: 0, logLevel: "silent", drain: "0", feed: "replay", warmup: "0s" } as const;
    const gateway = await startGateway(createConfig({ ...given, alerts, keys, data }));
    onTestFinished(() => gateway.stop());
    expect((await fetch(`${gateway.url}/api/v1/flares`)).status).toBe(200);
    let input = "";
    const scrape = async () => {
      input = await (await fetch(`${gateway.url}/metrics`)).text();
      return input;
    };
    // The first delay is measured a moment after the start.
    await expect.poll(scrape).toContain("flarewire_event_loop_delay_seconds{");
    // promtool prints its findings, and exits with 3 if there are any.
    expect(execFileSync(PROMTOOL ?? "", ["check", "metrics"], { input, encoding: "utf8" })).toBe("");
  },
);
