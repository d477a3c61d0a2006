import { expect, test } from "vitest";
import { markdown } from "../../../../src/extensions/docs/site/markdown.ts";
import { prose } from "../../../../src/extensions/pages/index.ts";

test("words between asterisks are emphasized, and asterisks beside spaces are text", () => {
  const { markup } = markdown("Default: *. Value: *, or *one word*, *a* and **two words**.");
  expect(markup).toBe(
    "<p>Default: *. Value: *, or <em>one word</em>, <em>a</em> and <strong>two words</strong>.</p>",
  );
});

test("numbers stay on one line with their units, except in code", () => {
  expect(markdown("A wait of 55 s, 40 MB and 12 %: `sleep 5 s`.").markup).toBe(
    "<p>A wait of 55\u00a0s, 40\u00a0MB and 12\u00a0%: <code>sleep 5 s</code>.</p>",
  );
  expect(prose("At most 60 seconds.").markup).toBe("At most 60\u00a0seconds.");
});
