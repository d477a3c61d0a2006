/* A stand-in of Binance with many pairs. A line with a number starts as many trades a second. */
import { createInterface } from "node:readline";
import { systemClock } from "../../../src/base/lib/time/clock.ts";
import { StandIn } from "../../feeds/exchange/stand-in.ts";

const STEP_MS = 10;

const pairs = Number(process.argv[2]);
const bases = Array.from({ length: pairs }, (_, index) => `T${index}`);
const server = await new StandIn(
  systemClock,
  bases.map((base) => ({ venue: "binance", base, quoteVolume: 1e7 })),
).listen();
process.stdout.write(`${server.url}\n`);

let made = 0;
let stop = () => {};
createInterface(process.stdin).on("line", (line) => {
  stop();
  const perStep = (Number(line) * STEP_MS) / 1_000;
  const began = systemClock.monotonic();
  let sent = 0;
  stop = systemClock.every(STEP_MS, () => {
    // After a late timer, the missing trades follow at once.
    const due = perStep * Math.floor((systemClock.monotonic() - began) / STEP_MS);
    for (; sent < due; sent++) {
      made += 1;
      server.deliver(...server.trade("binance", `T${(made * 7) % pairs}USDT`));
    }
  });
  process.stdout.write(`${made}\n`);
});
