import { expect, test } from "vitest";
import { createSchemas } from "../../../../src/extensions/docs/contracts/schemas.ts";

test("the contracts describe each schema and its fields, including those of shared parts", () => {
  const { Flare, BscChartItem, Hello, FlareStartedMessage } = createSchemas("draft-2020-12").named;
  expect(Flare?.description).toMatch(/^A trending episode: an item of the lists/);
  expect(Flare?.properties?.liquidity?.description).toContain("Dollars in the token's pools");
  expect(BscChartItem?.properties?.streak?.description).toBe(
    "Consecutive minutes in the chart, including this one. Minutes without data are not counted.",
  );
  expect(Hello?.properties?.silence_limit_ms?.description).toMatch(/^Reconnect/);
  expect(FlareStartedMessage?.description).toMatch(/^A flare enters/);
  expect(FlareStartedMessage?.properties?.observed_at?.description).toMatch(/^Event time/);
});
