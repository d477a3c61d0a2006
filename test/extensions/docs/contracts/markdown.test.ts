import { expect, test } from "vitest";
import { markdown } from "../../../../src/extensions/docs/site/markdown.ts";

test("words between asterisks are emphasized, and asterisks beside spaces are text", () => {
  const { markup } = markdown("Default: *. Value: *, or *one word*, *a* and **two words**.");
  expect(markup).toBe(
    "<p>Default: *. Value: *, or <em>one word</em>, <em>a</em> and <strong>two words</strong>.</p>",
  );
});
