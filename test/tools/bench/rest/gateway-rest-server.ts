/* Runs the gateway on a source whose snapshot of 20 kB changes each second. */

import { systemClock } from "../../../../src/base/lib/time/clock.ts";
import { sayReady } from "../harness/control-port.ts";
import { serveSnapshots } from "./served-gateway.ts";
import { snapshotOf } from "./snapshot.ts";

let step = 0;
const port = await serveSnapshots(async (signal) => {
  if (step > 0) await systemClock.sleep(1_000, signal);
  step += 1;
  return { observedAtMs: systemClock.now(), snapshot: snapshotOf(20_000, step) };
});
sayReady(port, 0);
