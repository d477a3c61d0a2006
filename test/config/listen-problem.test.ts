import { expect, test } from "vitest";
import { createConfig, listenProblem } from "../../src/config/config.ts";

const systemError = (syscall: string, code: string) =>
  Object.assign(new Error(`${syscall} ${code}`), { code, syscall });
const config = createConfig({ host: "203.0.113.9", port: 80 });

test.each([
  [
    "listen",
    "EADDRINUSE",
    "port = 80 is taken on 203.0.113.9: choose another, for example --port 9000, or 0",
    "port",
  ],
  [
    "listen",
    "EACCES",
    "port = 80 may not be used on 203.0.113.9 without more rights: choose another, for",
    "port",
  ],
  [
    "listen",
    "EADDRNOTAVAIL",
    "host = 203.0.113.9 is no address of this machine: choose one of its own, for",
    "host",
  ],
  [
    "listen",
    "EAFNOSUPPORT",
    "host = 203.0.113.9 is no address of this machine: choose one of its own, for",
    "host",
  ],
  [
    "getaddrinfo",
    "ENOTFOUND",
    "host = 203.0.113.9 is a name without an address here (ENOTFOUND): choose",
    "host",
  ],
  [
    "getaddrinfo",
    "EAI_AGAIN",
    "host = 203.0.113.9 is a name without an address here (EAI_AGAIN): choose",
    "host",
  ],
])("%s %s names the setting, its value and an example", (syscall, code, message, field) => {
  const error = systemError(syscall, code);
  const found = listenProblem(error, config);
  expect(found).toMatchObject({ code: "invalid-setting", field, cause: error });
  expect(found?.message).toContain(message);
});

test("an error of anything but listening is told as it is", () => {
  expect(listenProblem(systemError("open", "EACCES"), config)).toBeUndefined();
  expect(listenProblem(systemError("listen", "EIO"), config)).toBeUndefined();
  expect(listenProblem(new Error("no"), config)).toBeUndefined();
  expect(listenProblem("no", config)).toBeUndefined();
});
