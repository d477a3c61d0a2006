import { expect, test } from "vitest";
import { createConfig } from "../../../src/app/config/config.ts";

test.each([
  ["basePath", ["fw", "/fw/", "/a//b", "/a b", "/a?b", "/*", "/:x"]],
  ["corsOrigins", [["https://x.example/"], ["x.example"], ["https://x.example/path"], [""], ["null"]]],
  ["trustProxy", [["10.0.0.0/33"], ["proxy.example"], [""], ["10.0.0.0/8/8"], ["1.2.3.4", "::/129"]]],
])("an invalid %s is rejected, and the error names the setting", (name, values) => {
  for (const value of values) expect(() => createConfig({ [name]: value })).toThrow(`${name} = `);
});
