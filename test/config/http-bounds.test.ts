import { expect, test } from "vitest";
import { createConfig } from "../../src/config/config.ts";

test.each([
  ["basePath", ["fw", "/fw/", "/a//b", "/a b", "/a?b", "/*", "/:x"]],
  ["corsOrigins", [["https://x.example/"], ["x.example"], ["https://x.example/path"], [""], ["null"]]],
  ["trustProxy", [["10.0.0.0/33"], ["proxy.example"], [""], ["10.0.0.0/8/8"], ["1.2.3.4", "::/129"]]],
])("a %s outside its bound is named with its value", (name, values) => {
  for (const value of values) expect(() => createConfig({ [name]: value })).toThrow(`${name} = `);
});
