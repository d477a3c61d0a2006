import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

declare global {
  var axe: {
    run: (options: {
      runOnly?: string[];
      resultTypes: string[];
    }) => Promise<{ violations: readonly { id: string; nodes: readonly { html: string }[] }[] }>;
  };
}

const SCRIPT = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/**
 * Returns axe's findings on the current page, each with its first element. With `rules`, only these
 * are tried, because a theme changes nothing but colors.
 */
export async function findViolations(page: Page, rules?: readonly string[]): Promise<readonly string[]> {
  if (!(await page.evaluate("globalThis.axe !== undefined"))) await page.evaluate(SCRIPT);
  const { violations } = await page.evaluate(
    (only) => axe.run({ resultTypes: ["violations"], ...(only ? { runOnly: [...only] } : {}) }),
    rules,
  );
  return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
}

/** The rules whose result depends on a page's colors. */
export const COLOR_RULES: readonly string[] = ["color-contrast", "link-in-text-block"];
