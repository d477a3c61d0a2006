import { test } from "vitest";
import { connect } from "../../src/client/index.ts";
import { IS_SOAK } from "../support/law-runs.ts";
import { assemble } from "./company.ts";
import { takeOver } from "./takeover.ts";

/** Each a client of its own; more of them with the variable. */
const STREAMS = Number(process.env.STREAMS ?? (IS_SOAK ? 24 : 8));
const SEED = Number(process.env.SEED ?? 1);

test(`[L2] [L3] [W31] [F3] while a leader drains and its edge takes over, ${STREAMS} streams continue there, with no hole and no repeat (SEED=${SEED})`, async ({
  onTestFinished,
}) => {
  await takeOver(STREAMS, onTestFinished, async (members) => assemble(connect, members, 1, SEED));
});
