import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { bundleClient } from "./bundle.ts";

const MAX_BYTES = 7_000;

test("the SDK is at most 7 kB minified and gzipped, and imports no other module", async () => {
  const code = await bundleClient();
  expect(code).not.toMatch(/\bimport\b/);
  expect(gzipSync(code, { level: 9 }).length).toBeLessThanOrEqual(MAX_BYTES);
});
