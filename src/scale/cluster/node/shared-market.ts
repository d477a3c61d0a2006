import { parseJson } from "../../../base/lib/parse-json.ts";
import type { Clock } from "../../../base/lib/time/clock.ts";
import { FlarewireError } from "../../../base/protocol/index.ts";
import type { MarketOpener } from "../../../gateway/start/index.ts";
import type { Engine } from "../engine.ts";

/** How long the cluster's market outlives its last node, so that another one may follow. */
const KEEP_MS = 30_000;
const RENEW_MS = 5_000;

/**
 * The market on which the nodes of a cluster agree: that of its first node, until all have stopped.
 */
export class SharedMarket {
  readonly #engine: Pick<Engine, "agree">;
  readonly #name: string;
  readonly #own: string;

  /** @param name Name of the cluster, for messages. */
  constructor(engine: Pick<Engine, "agree">, { settings }: MarketOpener, name: string) {
    this.#engine = engine;
    this.#name = name;
    this.#own = JSON.stringify(settings);
  }

  /**
   * Throws `invalid-setting` if the nodes run another market than this one. A server that rejects
   * the question is reported elsewhere.
   */
  async check(): Promise<void> {
    const common = await this.#agree(false);
    const [own, theirs] = [this.#own, common].map((text): Record<string, unknown> => Object(parseJson(text)));
    // Nodes of another version may know further settings.
    const other = Object.keys(own ?? {}).find(
      (name) => theirs?.[name] !== undefined && theirs[name] !== own?.[name],
    );
    if (other === undefined) return;
    throw new FlarewireError(
      "invalid-setting",
      `cluster ${this.#name} runs another market: ${other} is ${theirs?.[other]} there and ${own?.[other]} here; use its settings or another cluster-name; to change its market, stop all its nodes for ${KEEP_MS / 1_000} s`,
      { field: other },
    );
  }

  /** Keeps the market until the returned function is called. The leader's own one always counts. */
  keep(clock: Clock, isLeading: () => boolean): () => void {
    return clock.every(RENEW_MS, () => void this.#agree(isLeading()));
  }

  #agree(isForced: boolean): Promise<string> {
    return this.#engine.agree(this.#own, KEEP_MS, isForced).catch(() => this.#own);
  }
}
