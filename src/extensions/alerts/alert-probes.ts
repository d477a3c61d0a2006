import type { Probe } from "../../base/lib/probe.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import { formAlert } from "./alert.ts";
import { openTargets, readAlertFile } from "./targets/alert-file.ts";

/**
 * Tests the targets of an alert file, for `flarewire doctor`: sends each a message that says that
 * it is a test. Omits MQTT brokers: a second client with the same id would end the server's
 * connection. Rejects with InputError if the file is invalid.
 */
export async function alertChecks(file: string, clock: Clock): Promise<readonly Probe[]> {
  const targets = openTargets({ ...(await readAlertFile(file)), mqtt: [] }, clock);
  return targets.map(({ id, deliver }) => ({
    service: id,
    what: "message",
    run: async (signal) => {
      const nowMs = clock.now();
      const content = { type: "test", key: String(nowMs), data: {} };
      const outcome = await deliver(formAlert(id, "doctor", content, nowMs), signal);
      if (outcome.kind === "delivered") return "accepted a test message";
      const reason = outcome.kind === "gone" ? "it returned 410, so it wants no messages" : outcome.reason;
      throw new Error(`did not accept a test message: ${reason}`);
    },
  }));
}
