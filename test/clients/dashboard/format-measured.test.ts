import { expect, test, vi } from "vitest";
import type { Term } from "../../../src/base/model/index.ts";
import { formatMoment, formatTime, zone, zoneName } from "../../../src/clients/dashboard/text/format.ts";
import { formatMeasured } from "../../../src/clients/dashboard/text/state-text.ts";

test.for([
  ["buyers", 12, "≈ 12 wallets"],
  ["buyers", 29.7, "≈ 30 wallets"],
  ["volume", 8.5, "8.50 × usual"],
  ["price", Math.log(1.042), "4.2 %"],
  ["price", Math.log(0.9), "−10.0 %"],
  ["imbalance", 0.42, "≥ 92.0 % buys"],
  ["flow", 12.4, "12.4 usual minutes"],
] satisfies [Term["name"], number, string][])("the measured %s %d is shown as %s", ([name, raw, text]) => {
  expect(formatMeasured({ name, raw }).join(" ")).toBe(text);
});

test("times are to the minute, in UTC or, by choice, in the zone of the browser", ({ onTestFinished }) => {
  vi.spyOn(Date.prototype, "getTimezoneOffset").mockReturnValue(-330);
  onTestFinished(() => {
    vi.restoreAllMocks();
    zone.value = "UTC";
  });
  const at = "2017-11-12T20:31:59.000Z";
  expect([formatMoment(at), formatTime(Date.parse(at)), zoneName()]).toEqual([
    "2017-11-12 20:31",
    "20:31",
    "UTC",
  ]);
  zone.value = "local";
  expect([formatMoment(at), formatTime(at), zoneName()]).toEqual(["2017-11-13 02:01", "02:01", "local time"]);
});
