import type { AnyFlare, Flare } from "../../base/model/index.ts";
import type { StreamEvent } from "./client-state.ts";

export type FlareStarted<F extends AnyFlare = Flare> = StreamEvent<"flare-started", F>;
export type FlareUpdated = StreamEvent<"flare-updated">;
export type FlareSurged<F extends AnyFlare = Flare> = StreamEvent<"flare-surged", F>;
export type FlareFinished<F extends AnyFlare = Flare> = StreamEvent<"flare-finished", F>;
export type FlareOutcome = StreamEvent<"flare-outcome">;
export type FlareWithdrawn = StreamEvent<"flare-withdrawn">;
export type FlareExpired = StreamEvent<"flare-expired">;
export type TokenListed = StreamEvent<"token-listed">;
export type TokenUpdated = StreamEvent<"token-updated">;
export type TokenUnlisted = StreamEvent<"token-unlisted">;
export type ChartUpdated = StreamEvent<"chart-updated">;
export type LeaderboardUpdated = StreamEvent<"leaderboard-updated">;
export type CandlesClosed = StreamEvent<"candles-closed">;
export type SourceStatus = StreamEvent<"source-status">;
