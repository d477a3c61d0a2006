import { expect, test } from "vitest";
import {
  checkpointOf,
  EngineCheckpoints,
  restoreEngine,
  unpackEngine,
} from "../../../src/app/data/engine-checkpoints.ts";
import { type EngineState, type StateWatcher, TrendEngine } from "../../../src/engine/index.ts";
import { NO_PROFILE } from "../../../src/engine/state/token-profile.ts";
import { createToken } from "../../../src/engine/state/token-state.ts";
import { address, clock, MINUTE, SECOND, START } from "../../engine/trend-kit.ts";

const EMPTY = unpackEngine(checkpointOf(new TrendEngine()));
const tokenOf = (number: number) => createToken("bsc", address(number), address(number), START, NO_PROFILE);

/** An engine that has these tokens and does nothing. */
class IdleEngine {
  watcher: StateWatcher | undefined;
  readonly #tokens: EngineState["tokens"];

  constructor(tokens: EngineState["tokens"]) {
    this.#tokens = tokens;
  }

  state(): EngineState {
    return { ...EMPTY, tokens: this.#tokens };
  }

  watch(watcher: StateWatcher | undefined): void {
    this.watcher = watcher;
  }
}

test("a token that cannot be packed ends the iteration, and the engine continues", () => {
  const [good, bad] = [tokenOf(1), Object.assign(tokenOf(2), { events: Symbol("not a number") })];
  for (const [tokens, work] of [
    [[bad], (engine: IdleEngine) => engine.watcher?.beforeChange([bad])],
    [[good, bad], (engine: IdleEngine) => engine.watcher?.beforeChange([good, bad])],
    [[good, bad], (_: IdleEngine, checkpoints: EngineCheckpoints) => checkpoints.packBefore({ at: START })],
  ] as const) {
    const engine = new IdleEngine(tokens);
    const checkpoints = new EngineCheckpoints(engine);
    const { slices } = checkpoints.begin();
    expect(engine.watcher).toBeDefined();
    work(engine, checkpoints);
    expect(engine.watcher).toBeUndefined();
    expect(() => [...slices]).toThrow("cannot encode a symbol");
  }
});

test("a token that waits to be judged is packed before the next second", () => {
  const [idle, waiting] = [tokenOf(1), Object.assign(tokenOf(2), { isTouched: true })];
  const times = { clockMs: START, stepMs: START, nextMinuteMs: START + MINUTE };
  const engine = new TrendEngine({}, { ...EMPTY, ...times, tokens: [idle, waiting] });
  const begun = new EngineCheckpoints(engine).begin();
  engine.accept(clock(START + SECOND));
  expect(waiting.isTouched).toBe(false);
  const { tokens } = unpackEngine(begun);
  expect(tokens.map(({ key, isTouched }) => [key, isTouched])).toEqual([
    [address(1), false],
    [address(2), true],
  ]);
});

test("the engine is watched only until the last slice is read, or no more is wanted", () => {
  const engine = new IdleEngine([tokenOf(1), tokenOf(2)]);
  const checkpoints = new EngineCheckpoints(engine);
  expect([...checkpoints.begin().slices]).toHaveLength(1);
  expect(engine.watcher).toBeUndefined();
  for (const _ of checkpoints.begin().slices) break;
  expect(engine.watcher).toBeUndefined();
});

test("a checkpoint of another version, or a damaged one, is rejected with the reason", () => {
  expect(() => restoreEngine({ version: 99, state: null })).toThrow("version 99");
  expect(() => restoreEngine({ version: 16, state: {} })).toThrow("no engine state");
});
