import { execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import {
  directoryOrNone,
  duration,
  existingFile,
  flag,
  flagOf,
  integer,
  isServiceUrl,
  type Kind,
  list,
  look,
  oneOf,
  orNone,
  serviceUrl,
  setting,
  size,
} from "../../../src/base/settings/index.ts";

const PLACE = mkdtempSync(join(tmpdir(), "flarewire-kinds-"));
const FILE = join(PLACE, "file.txt");
const PIPE = join(PLACE, "pipe");
writeFileSync(FILE, "x");
execFileSync("mkfifo", [PIPE]);
const REFUSED = Symbol("refused");

const seconds = duration(1_000, 60_000);
const bytes = size(1_024);
const http = serviceUrl("http");
const ws = serviceUrl("ws");
const names = { schema: list(z.string().min(2)), bound: "names" };

/** What each kind makes of what a user may write. */
const READ: readonly (readonly [what: string, kind: Kind<unknown>, given: unknown, read: unknown])[] = [
  ["the shortest duration", seconds, "1s", 1_000],
  ["a duration below it", seconds, "999ms", REFUSED],
  ["the longest duration", seconds, "1m", 60_000],
  ["a duration above it", seconds, "61s", REFUSED],
  ["a duration without a unit", seconds, "5", REFUSED],
  ["a number for a duration", seconds, 5, REFUSED],
  ["no duration, as number", duration(0, 10), 0, 0],
  ["no duration, as text", duration(0, 10), "0", 0],
  ["the smallest size", bytes, "1KiB", 1_024],
  ["a size below it", bytes, "1023B", REFUSED],
  ["the greatest size", bytes, "1024GiB", 1_024 ** 4],
  ["a size above it", bytes, "1025GiB", REFUSED],
  ["no bound", orNone(bytes), "none", Number.POSITIVE_INFINITY],
  ["a bound in spite of none", orNone(bytes), "1KiB", 1_024],
  ["another word than none", orNone(bytes), "nothing", REFUSED],
  ["the least whole number", integer(1, 5), 1, 1],
  ["a whole number below it", integer(1, 5), 0, REFUSED],
  ["the greatest, as text", integer(1, 5), "5", 5],
  ["a whole number above it", integer(1, 5), "6", REFUSED],
  ["a fraction", integer(1, 5), 1.5, REFUSED],
  ["a number with a leading zero", integer(0, 50), "05", REFUSED],
  ["a number with a sign", integer(0, 5), "+1", REFUSED],
  ["zero, as text", integer(0, 5), "0", 0],
  ["a flag", flag, true, true],
  ["a flag as text", flag, "false", false],
  ["a flag by another word", flag, "yes", REFUSED],
  ["a known word", oneOf(["a", "b"]), "b", "b"],
  ["an unknown word", oneOf(["a", "b"]), "c", REFUSED],
  ["an existing file", existingFile, FILE, FILE],
  ["a directory in place of a file", existingFile, PLACE, REFUSED],
  ["a pipe in place of a file", existingFile, PIPE, REFUSED],
  ["a missing file", existingFile, join(PLACE, "no"), REFUSED],
  ["no directory", directoryOrNone, "none", "none"],
  ["a directory that is to be created", directoryOrNone, "new/one", "new/one"],
  ["an empty directory name", directoryOrNone, "", REFUSED],
  ["a directory name that ends early", directoryOrNone, "a\0b", REFUSED],
  ["the longest path", directoryOrNone, "x".repeat(4_096), "x".repeat(4_096)],
  ["a path that is too long", directoryOrNone, "x".repeat(4_097), REFUSED],
  ["an address", http, "http://one.example", "http://one.example"],
  ["a secure address with slashes at its end", http, "https://one.example/a//", "https://one.example/a"],
  ["a socket's address", ws, "wss://one.example/", "wss://one.example"],
  ["the other scheme", ws, "https://one.example", REFUSED],
  ["a socket in place of an address", http, "ws://one.example", REFUSED],
  ["an address with a user", http, "http://me@one.example", REFUSED],
  ["an address with a password", http, "http://:pw@one.example", REFUSED],
  ["an address with a query", http, "http://one.example/?key=1", REFUSED],
  ["an address with a fragment", http, "http://one.example/#a", REFUSED],
  ["a list with spaces after its commas", names, "aa, bb ,cc", ["aa", "bb", "cc"]],
  ["a list as array", names, ["aa", "bb"], ["aa", "bb"]],
  ["the empty list", names, "none", []],
  ["a list with a wrong item", names, "aa,b", REFUSED],
  ["the longest list", names, Array(1_000).fill("aa"), Array(1_000).fill("aa")],
  ["a list that is too long", names, Array(1_001).fill("aa"), REFUSED],
];

test.each(READ)("%s", (_, kind, given, read) => {
  const parsed = kind.schema.safeParse(given);
  expect(parsed.success ? parsed.data : REFUSED).toEqual(read);
});

test("the bound of a kind says in words what it accepts", () => {
  expect(
    [seconds, bytes, orNone(bytes), integer(1, 5), oneOf(["a"]), oneOf(["a", "b"])].map(({ bound }) => bound),
  ).toEqual([
    "a duration from 1s to 1m (units ms, s, m, h, d)",
    "a size from 1KiB to 1024GiB (units B, KiB, MiB, GiB)",
    "none, or a size from 1KiB to 1024GiB (units B, KiB, MiB, GiB)",
    "a whole number from 1 to 5",
    "a",
    "one of a, b",
  ]);
  expect(ws.bound).toBe("a URL that starts with ws:// or wss://, without user, query or fragment");
});

test("a pipe in place of a file gets an objection with the cure, a missing file and another type none", () => {
  expect(existingFile.objection?.(PIPE)).toMatch(/not a regular file; write the output of a pipe to a file/);
  for (const given of [join(PLACE, "no"), FILE, PLACE, 7])
    expect(existingFile.objection?.(given)).toBeUndefined();
});

test("each kind tells messages and the command line how it is written", () => {
  const traits = ({ url, path, names: known, words, flagOnly }: Kind<unknown>) => ({
    url,
    path,
    known,
    words,
    flagOnly,
  });
  const none = { url: undefined, path: undefined, known: undefined, words: undefined, flagOnly: undefined };
  expect(traits(http)).toEqual({ ...none, url: true });
  expect(traits(existingFile)).toEqual({ ...none, path: true });
  expect(traits(directoryOrNone)).toEqual({ ...none, path: true, words: ["none"] });
  expect(traits(flag)).toEqual({ ...none, flagOnly: true });
  expect(traits(oneOf(["a", "b"]))).toEqual({ ...none, known: ["a", "b"] });
  expect(traits(seconds)).toEqual(none);
});

test("a path leads to a file, a directory, something special or nothing; only plain http addresses are services", () => {
  expect([FILE, PLACE, PIPE, join(PLACE, "no")].map(look)).toEqual([
    "file",
    "directory",
    "special",
    "nothing",
  ]);
  expect(["http://a.example", "ftp://a.example", "http://a.example?b", "no"].map(isServiceUrl)).toEqual([
    true,
    false,
    false,
    false,
  ]);
});

test("a setting has the facts of its kind and its own, and its flag follows from its name", () => {
  const rest = { default: "1m", example: "5s", description: "How often" };
  expect(setting("pollMs", seconds, rest)).toEqual({ field: "pollMs", ...seconds, ...rest });
  expect(["poll", "pollInterval", "httpPollMaxAge"].map(flagOf)).toEqual([
    "poll",
    "poll-interval",
    "http-poll-max-age",
  ]);
});
