import { expect, test } from "vitest";
import type { Term } from "../../../src/base/model/index.ts";
import { formatMeasured } from "../../../src/clients/dashboard/text/format.ts";

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
