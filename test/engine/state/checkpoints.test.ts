import { expect, test } from "vitest";
import { TrendEngine } from "../../../src/engine/index.ts";
import { unpackEngine } from "../../../src/engine/state/checkpoint.ts";
import { Checkpoints } from "../../../src/engine/state/checkpoints.ts";
import { NO_PROFILE } from "../../../src/engine/state/token-profile.ts";
import { createToken } from "../../../src/engine/state/token-state.ts";
import { address, START } from "../trend-kit.ts";

const EMPTY = unpackEngine(new TrendEngine().checkpoint());
const tokenOf = (number: number) => createToken("bsc", address(number), address(number), START, NO_PROFILE);

test("a token that cannot be packed ends the iteration, and the engine continues", () => {
  const [good, bad] = [tokenOf(1), Object.assign(tokenOf(2), { events: Symbol("not a number") })];
  const state = { ...EMPTY, tokens: [good, bad] };
  const only = new Checkpoints();
  const begun = only.begin({ ...EMPTY, tokens: [bad] }, []);
  only.keep(bad);
  expect(() => [...begun.slices]).toThrow("cannot encode a symbol");
  for (const work of [
    (checkpoints: Checkpoints) => checkpoints.keep(bad),
    (checkpoints: Checkpoints) => checkpoints.keepMore(),
    (checkpoints: Checkpoints) => checkpoints.beforeStep(true),
  ]) {
    const checkpoints = new Checkpoints();
    const { slices } = checkpoints.begin(state, []);
    work(checkpoints);
    expect(checkpoints.isPacking).toBe(false);
    expect(() => [...slices]).toThrow("cannot encode a symbol");
  }
});

test("a token that waits to be judged, or that a list shows, is packed before the next second", () => {
  const [waiting, touched] = [tokenOf(1), Object.assign(tokenOf(2), { isTouched: true })];
  const checkpoints = new Checkpoints();
  const { slices, ...rest } = checkpoints.begin({ ...EMPTY, tokens: [waiting, touched] }, [waiting]);
  checkpoints.beforeStep(false);
  for (const token of [waiting, touched]) token.price = 2;
  const { tokens } = unpackEngine({ ...rest, slices });
  expect(tokens.map(({ key, price }) => [key, price])).toEqual([
    [address(1), 0],
    [address(2), 0],
  ]);
  expect(checkpoints.isPacking).toBe(false);
});
