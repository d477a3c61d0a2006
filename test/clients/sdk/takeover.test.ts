import { test } from "vitest";
import { connect } from "../../../src/clients/sdk/index.ts";
import { IS_SOAK } from "../../support/law-runs.ts";
import { startGroup } from "./stream-group.ts";
import { takeOver } from "./takeover.ts";

/** Number of streams, each with its own client. Set STREAMS for more. */
const STREAMS = Number(process.env.STREAMS ?? (IS_SOAK ? 24 : 8));
const SEED = Number(process.env.SEED ?? 1);

test(`[L2] [L3] [W31] [F3] while a leader drains and its edge takes over, ${STREAMS} streams continue there without gaps or repeats (SEED=${SEED})`, async ({
  onTestFinished,
}) => {
  await takeOver(STREAMS, onTestFinished, async (members) => startGroup(connect, members, 1, SEED));
});
