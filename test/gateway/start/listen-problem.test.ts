import { expect, test } from "vitest";
import { createConfig } from "../../../src/app/config/config.ts";
import { listenProblem } from "../../../src/gateway/start/listen-problem.ts";

const systemError = (syscall: string, code: string) =>
  Object.assign(new Error(`${syscall} ${code}`), { code, syscall });
const config = createConfig({ host: "203.0.113.9", port: 80 });

test.each([
  [
    "listen",
    "EADDRINUSE",
    "port = 80 is already in use on 203.0.113.9: choose another, for example --port 9000, or 0",
    "port",
  ],
  ["listen", "EACCES", "port = 80 on 203.0.113.9 requires elevated privileges: choose another", "port"],
  [
    "listen",
    "EADDRNOTAVAIL",
    "host = 203.0.113.9 is not an address of this machine: choose one of this machine's addresses, or --host",
    "host",
  ],
  [
    "listen",
    "EAFNOSUPPORT",
    "host = 203.0.113.9 is not an address of this machine: choose one of this machine's addresses, or --host",
    "host",
  ],
  [
    "getaddrinfo",
    "ENOTFOUND",
    "host = 203.0.113.9 does not resolve to an address (ENOTFOUND): choose",
    "host",
  ],
  [
    "getaddrinfo",
    "EAI_AGAIN",
    "host = 203.0.113.9 does not resolve to an address (EAI_AGAIN): choose",
    "host",
  ],
])("%s %s names the setting, its value and an example", (syscall, code, message, field) => {
  const error = systemError(syscall, code);
  const found = listenProblem(error, config);
  expect(found).toMatchObject({ code: "invalid-setting", field, cause: error });
  expect(found?.message).toContain(message);
});

test("any other error is not translated", () => {
  expect(listenProblem(systemError("open", "EACCES"), config)).toBeUndefined();
  expect(listenProblem(systemError("listen", "EIO"), config)).toBeUndefined();
  expect(listenProblem(new Error("no"), config)).toBeUndefined();
  expect(listenProblem("no", config)).toBeUndefined();
});
