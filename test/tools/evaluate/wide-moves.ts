import { TrendEngine } from "../../../src/engine/index.ts";
import { MINUTE, START } from "../../engine/trend-kit.ts";
import {
  burstRate,
  busyTokens,
  idleTokens,
  pumpPath,
  sceneOf,
  tokenScene,
} from "../../support/world/chain-scenes.ts";

const BUSY = 30;
const MOVE_AT = 150;
const MOVE_MINUTES = 10;
const MINUTES = MOVE_AT + 40;
const SIZE = 0.12;

/** Shares of idle tokens with which the move is tried. */
const IDLE_SHARES = [0, 0.3, 0.6, 0.9] as const;

/** How many busy tokens flared when all of them rose together by 12 %. */
export interface WideMove {
  readonly idleShare: number;
  readonly busy: number;
  readonly flared: number;
}

/**
 * Lets 30 busy tokens rise together by 12 % within ten minutes, at three times their usual trades.
 * Idle tokens make up `idleShare` of the market.
 */
export function tryWideMove(idleShare: number, seed: number): WideMove {
  const idle = Math.round((BUSY * idleShare) / (1 - idleShare));
  const rise = {
    minutes: MINUTES,
    seed,
    path: pumpPath(MOVE_AT, MOVE_MINUTES, SIZE),
    perMinute: burstRate(2, 3, MOVE_AT, MOVE_AT + MOVE_MINUTES),
  };
  const busy = busyTokens(BUSY, rise);
  const scenes = [...busy, ...idleTokens(idle, MINUTES, seed)];
  const engine = new TrendEngine();
  const flared = new Set<string>();
  for (const event of sceneOf(MINUTES, ...scenes.map(tokenScene))) {
    engine.accept(event);
    if (event.kind !== "clock" || event.at % 5_000 !== 0) continue;
    for (const { token } of busy) {
      const since = engine.trendOf("bsc", token)?.flaringSinceMs ?? null;
      if (since !== null && since >= START + MOVE_AT * MINUTE) flared.add(token);
    }
  }
  return { idleShare, busy: BUSY, flared: flared.size };
}

/** Runs {@link tryWideMove} for each share of idle tokens and adds up the seeds. */
export function evaluateWideMoves(seeds: readonly number[]): readonly WideMove[] {
  return IDLE_SHARES.map((idleShare) => {
    const moves = seeds.map((seed) => tryWideMove(idleShare, seed));
    const sum = (pick: (move: WideMove) => number) => moves.reduce((total, move) => total + pick(move), 0);
    return { idleShare, busy: sum(({ busy }) => busy), flared: sum(({ flared }) => flared) };
  });
}
