import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { namedSchemas } from "../../../src/http/contracts/schemas.ts";
import { DESCRIPTIONS_FILE, describe } from "./docstrings.ts";

test("the contracts speak in the words of the docstrings, as they are now (else: npm run describe)", () => {
  expect(readFileSync(DESCRIPTIONS_FILE, "utf8")).toBe(describe());
});

test("a docstring reaches its schema and its fields, those of shared parts too", () => {
  const { Flare, BscChartItem, Hello, FlareStartedMessage } = namedSchemas("draft-2020-12");
  expect(Flare?.description).toMatch(/^A token that trends, or did: an item of the lists/);
  expect(Flare?.properties?.liquidity?.description).toContain("Dollars in the token's pools");
  expect(BscChartItem?.properties?.streak?.description).toBe(
    "Consecutive minutes in the chart, this one included.",
  );
  expect(Hello?.properties?.silence_limit_ms?.description).toMatch(/^Reconnect/);
  expect(FlareStartedMessage?.properties?.observed_at?.description).toMatch(/^Event time/);
});
