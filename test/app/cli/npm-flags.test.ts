import { expect, test } from "vitest";
import { npmFlagsHint } from "../../../src/app/config/config.ts";
import { runInProcess } from "./run-in-process.ts";

const START = { npm_package_name: "flarewire", npm_lifecycle_event: "start" };
const HINT = "npm did not pass on --port: use npm start -- --port 1; if an .npmrc sets it, remove it there";

test("passed flags, empty ones, and those of another package or script get no hint", async () => {
  const given = { ...START, npm_config_port: "1" };
  expect(npmFlagsHint([], given)).toBe(HINT);
  for (const args of [["--port", "2"], ["--port=2"]]) expect(npmFlagsHint(args, given)).toBeUndefined();
  for (const other of [
    { npm_package_name: "my-app" },
    { npm_package_name: undefined },
    { npm_lifecycle_event: "test" },
    { npm_config_port: "" },
    { npm_config_port: undefined, npm_config_cache: "/tmp", npm_config_userconfig: "/home/ann/.npmrc" },
  ])
    expect(npmFlagsHint([], { ...given, ...other })).toBeUndefined();
});

test("the hint has a flag's value if it is certain and not secret", () => {
  const hintOf = (args: readonly string[], given: object) =>
    /use npm start -- (.*);/.exec(npmFlagsHint(args, { ...START, ...given }) ?? "")?.[1];
  const port = { npm_config_port: "true" };
  expect(hintOf(["9000"], port)).toBe("--port 9000");
  expect(hintOf(["9000", "--data", "none"], port)).toBe("--port 9000");
  expect(hintOf(["9000"], { ...port, npm_config_compression: "true" })).toBe("--port 9000 --compression");
  expect(hintOf([], { npm_config_port: "9000", npm_config_data: "none" })).toBe("--port 9000 --data none");
  // npm does not say which value belongs to which flag.
  expect(hintOf(["9000", "none"], { ...port, npm_config_data: "true" })).toBe(
    "--port VALUE --data DIRECTORY",
  );
  expect(hintOf([], port)).toBe("--port VALUE");
  expect(hintOf([], { npm_config_source: "https://example.org/secret" })).toBe("--source VALUE");
});

test.each([
  ["true", "--compression"],
  ["", "--no-compression"],
])(
  "for a switch that npm stores as %j, the hint says %s, without a value",
  (npm_config_compression, flag) => {
    const given = { ...START, npm_config_compression };
    expect(npmFlagsHint([], given)).toContain(`npm did not pass on ${flag}: use npm start -- ${flag};`);
    expect(npmFlagsHint([flag], given)).toBeUndefined();
  },
);

test("the hint names all flags and the script", async () => {
  const environment = {
    ...START,
    npm_lifecycle_event: "flarewire",
    npm_config_keys: "true",
    npm_config_poll_interval: "2s",
  };
  const { code, stderr } = await runInProcess(["serve", "keys.json"], environment);
  expect(code).toBe(1);
  expect(stderr).toContain(
    "serve: npm did not pass on --poll-interval, --keys: use npm run flarewire -- serve --poll-interval 2s --keys keys.json; if an .npmrc sets them, remove them there\n",
  );
});
