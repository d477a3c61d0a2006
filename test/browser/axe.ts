import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

declare global {
  var axe: {
    run: () => Promise<{ violations: readonly { id: string; nodes: readonly { html: string }[] }[] }>;
  };
}

const SCRIPT = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Returns axe's findings on the current page, each with its first element. */
export async function findViolations(page: Page): Promise<readonly string[]> {
  await page.evaluate(SCRIPT);
  const { violations } = await page.evaluate(() => axe.run());
  return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
}
