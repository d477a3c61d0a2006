import { expect, test } from "vitest";
import { ServiceTally } from "../../src/feed/service/service-tally.ts";
import { watchReach } from "../../src/gateway/report-source.ts";
import { ManualClock } from "../support/time/manual-clock.ts";

/** Services whose outcomes the test sets, and the log of a watch over them. */
function watched() {
  const clock = new ManualClock();
  const lines: unknown[] = [];
  const stop = new AbortController();
  const tallies = { binance: new ServiceTally(clock), gate: new ServiceTally(clock) };
  const services = () =>
    Object.entries(tallies).map(([service, tally]) => tally.report("exchange", service, true));
  const log = (facts: unknown, message?: string) => void lines.push(message ? [message, facts] : facts);
  watchReach({ services }, { info: log, warn: log }, clock, stop.signal);
  const pass = (seconds: number) => {
    for (let second = 0; second < seconds; second++) clock.advance(1_000);
    return lines.splice(0);
  };
  return { ...tallies, pass, stop };
}

const CUT_OFF = "no service can be reached, retrying; check this machine's network, DNS and proxy";

test("an outage of all services is logged once, and again only after one responded", () => {
  const { binance, gate, pass } = watched();
  for (const tally of [binance, gate]) tally.asked(0);
  binance.ended("failed", true);
  expect(pass(3)).toEqual([]);
  gate.ended("failed", true);
  expect(pass(60)).toEqual([[CUT_OFF, { tried: ["binance", "gate"] }]]);
  gate.ended("failed");
  expect(pass(1)).toEqual(["services can be reached again"]);
  gate.ended("failed", true);
  expect(pass(60)).toEqual([[CUT_OFF, { tried: ["binance", "gate"] }]]);
});

test("a service that responds with an error, or sends data, disproves the outage for 10 seconds", () => {
  const { binance, gate, pass } = watched();
  for (const tally of [binance, gate]) tally.asked(0);
  binance.ended("failed", true);
  gate.ended("failed");
  expect(pass(10)).toEqual([]);
  gate.heard();
  expect(pass(10)).toEqual([]);
  expect(pass(3)).toEqual([[CUT_OFF, { tried: ["binance"] }]]);
});

test("services that are not asked, and an ended watch, log nothing", () => {
  const { binance, gate, pass, stop } = watched();
  expect(pass(60)).toEqual([]);
  for (const tally of [binance, gate]) tally.ended("failed", true);
  stop.abort();
  expect(pass(60)).toEqual([]);
});
