import { expect, test } from "vitest";
import { StampedCache } from "../../../src/base/lib/stamped-cache.ts";

const sizeOf = () => 1_000;

test("a value is cached until its stamp changes, and is not cached without a stamp", async () => {
  const cache = new StampedCache<string>(10_000, sizeOf);
  let stamp: string | undefined = "1";
  const now = () => stamp;
  let reads = 0;
  const read = () => cache.read("a", now, async () => `read ${++reads}`);
  expect([await read(), await read(), cache.get("a")]).toEqual(["read 1", "read 1", "read 1"]);
  stamp = "2";
  expect([cache.get("a"), cache.last("a")]).toEqual([undefined, "read 1"]);
  expect([await read(), await read()]).toEqual(["read 2", "read 2"]);
  stamp = undefined;
  expect([await read(), await read(), cache.get("a")]).toEqual(["read 3", "read 4", undefined]);
});

test("requests share a running read until the stamp changes; the outdated value is not cached", async () => {
  const cache = new StampedCache<string>(10_000, sizeOf);
  const reads: PromiseWithResolvers<string>[] = [];
  let stamp = "1";
  const read = () =>
    cache.read(
      "a",
      () => stamp,
      () => {
        const next = Promise.withResolvers<string>();
        reads.push(next);
        return next.promise;
      },
    );
  const first = [read(), read()];
  stamp = "2";
  const second = read();
  expect(reads).toHaveLength(2);
  reads[1]?.resolve("new");
  expect(await second).toBe("new");
  reads[0]?.resolve("old");
  expect(await Promise.all(first)).toEqual(["old", "old"]);
  expect(cache.get("a")).toBe("new");
});

test("a value that was read while its stamp changed is returned, but not cached", async () => {
  const cache = new StampedCache<string>(10_000, sizeOf);
  let stamp = "1";
  const read = () =>
    cache.read(
      "a",
      () => stamp,
      async () => `read at ${stamp}`,
    );
  const first = read();
  stamp = "2";
  expect([await first, cache.get("a")]).toEqual(["read at 1", undefined]);
  expect([await read(), cache.get("a")]).toEqual(["read at 2", "read at 2"]);
});

test("a failed read does not drop a newer value, and the next request reads again", async () => {
  const cache = new StampedCache<number>(10_000, sizeOf);
  const late = Promise.withResolvers<number>();
  let stamp = "1";
  const now = () => stamp;
  const first = cache.read("a", now, () => late.promise);
  stamp = "2";
  await cache.read("a", now, async () => 1);
  late.reject(new Error("late"));
  await expect(first).rejects.toThrow("late");
  expect(cache.get("a")).toBe(1);
  await expect(cache.read("b", now, () => Promise.reject(new Error("read")))).rejects.toThrow("read");
  expect(await cache.read("b", now, async () => 2)).toBe(2);
});

test("cached values stay within the byte limit, and the least recently used are dropped first", () => {
  const cache = new StampedCache<string>(4_000, (value) => value.length);
  const now = () => "1";
  const set = (key: string, bytes: number) => cache.set(key, "x".repeat(bytes), "1", now);
  for (const key of ["a", "b"]) set(key, 1_000);
  cache.get("a");
  set("c", 1_000);
  expect(["a", "b", "c"].filter((key) => cache.get(key) !== undefined)).toEqual(["a", "c"]);
  set("c", 10);
  set("d", 900);
  expect(["a", "c", "d"].filter((key) => cache.get(key) !== undefined)).toEqual(["a", "c", "d"]);
  expect(cache.bytes).toBeLessThanOrEqual(4_000);
  set("e", 5_000);
  expect(["a", "c", "d", "e"].filter((key) => cache.get(key) !== undefined)).toEqual([]);
});
