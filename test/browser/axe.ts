import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

declare global {
  var axe: {
    run: (
      within: string | object,
      options: { runOnly?: string[]; resultTypes: string[]; preload: boolean },
    ) => Promise<{ violations: readonly { id: string; nodes: readonly { html: string }[] }[] }>;
  };
}

const SCRIPT = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/**
 * Returns axe's findings on the current page, each with its first element. With `rules`, tries only
 * these, because a theme changes nothing but colors. With `within`, checks only the elements that
 * this selector matches, because other tests check the rest.
 */
export async function findViolations(
  page: Page,
  rules?: readonly string[],
  within?: string,
): Promise<readonly string[]> {
  if (!(await page.evaluate("globalThis.axe !== undefined"))) await page.evaluate(SCRIPT);
  const { violations } = await page.evaluate(
    ([only, selector]) =>
      axe.run(selector ?? Reflect.get(globalThis, "document"), {
        resultTypes: ["violations"],
        // Only rules that are off by default need the style sheets, which axe would load again.
        preload: false,
        ...(only ? { runOnly: [...only] } : {}),
      }),
    [rules, within] as const,
  );
  return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
}

/** The rules whose result depends on a page's colors. */
export const COLOR_RULES: readonly string[] = ["color-contrast", "link-in-text-block"];
