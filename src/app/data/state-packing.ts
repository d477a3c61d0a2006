import { compactToken, type EngineState } from "../../engine/index.ts";
import { decodeState, encodeState, type JsonValue } from "./state-codec.ts";

type TokenState = EngineState["tokens"][number];
type TokenProfile = EngineState["profiles"] extends ReadonlyMap<string, infer P> ? P : never;

/**
 * A slice ends with the entry that reaches this length: a millisecond of work. V8 collects strings
 * of more than 128 KiB less often.
 */
const SLICE_CHARACTERS = 100_000;

/**
 * Packs the tokens and profiles of one moment into slices of text while the engine continues. A
 * token that is about to change is packed first: see {@link Packing.keep}. Profiles never change;
 * only their map does.
 */
export class Packing {
  readonly #left: Map<TokenState, number>;
  readonly #names: readonly string[];
  readonly #profiles: readonly TokenProfile[];
  readonly #clockMs: number;
  /** Slices of the tokens that were packed before their turn. */
  readonly #ready: string[] = [];
  #kept: string[] = [];
  #keptLength = 0;

  constructor({ tokens, profiles, clockMs }: Pick<EngineState, "tokens" | "profiles" | "clockMs">) {
    this.#left = new Map(tokens.map((token, index) => [token, index]));
    this.#names = [...profiles.keys()];
    this.#profiles = [...profiles.values()];
    this.#clockMs = clockMs;
  }

  /** Packs the token as it is, unless it is packed already. Call it before the token changes. */
  keep(token: TokenState): void {
    const index = this.#left.get(token);
    if (index === undefined) return;
    this.#left.delete(token);
    const text = JSON.stringify([index, encodeState(compactToken(token, this.#clockMs))]);
    this.#kept.push(text);
    this.#keptLength += text.length;
    if (this.#keptLength >= SLICE_CHARACTERS) this.#closeKept();
  }

  /** Packs about a slice of the tokens that are left. Returns whether some are still left. */
  keepMore(): boolean {
    const before = this.#ready.length;
    for (const token of this.#left.keys()) {
      this.keep(token);
      if (this.#ready.length > before) break;
    }
    return this.#left.size > 0;
  }

  /** Yields all slices, each packed when it is asked for. */
  *slices(): Generator<string, void, void> {
    while (this.#left.size > 0 || this.#ready.length > 0 || this.#kept.length > 0) {
      if (this.#ready.length === 0 && !this.keepMore()) this.#closeKept();
      const slice = this.#ready.shift();
      if (slice !== undefined) yield slice;
    }
    yield* this.#profileSlices();
  }

  #closeKept(): void {
    if (this.#kept.length > 0) this.#ready.push(sliceOf("tokens", this.#kept));
    this.#kept = [];
    this.#keptLength = 0;
  }

  *#profileSlices(): Generator<string, void, void> {
    let texts: string[] = [];
    let length = 0;
    for (const [index, profile] of this.#profiles.entries()) {
      const text = JSON.stringify([this.#names[index], encodeState(profile)]);
      texts.push(text);
      length += text.length;
      if (length < SLICE_CHARACTERS) continue;
      yield sliceOf("profiles", texts);
      texts = [];
      length = 0;
    }
    if (texts.length > 0) yield sliceOf("profiles", texts);
  }
}

function sliceOf(name: "tokens" | "profiles", texts: readonly string[]): string {
  return `{"${name}":[${texts.join()}]}`;
}

/** Reads the slices one by one. Checks neither every field nor whether slices are missing. */
export function unpackSlices(slices: Iterable<string>): Pick<EngineState, "tokens" | "profiles"> {
  const tokens: TokenState[] = [];
  const profiles = new Map<string, TokenProfile>();
  for (const slice of slices) {
    const parts: { tokens?: [number, JsonValue][]; profiles?: [string, JsonValue][] } = JSON.parse(slice);
    for (const [index, token] of parts.tokens ?? []) tokens[index] = decodeState(token) as TokenState;
    for (const [name, profile] of parts.profiles ?? [])
      profiles.set(name, decodeState(profile) as TokenProfile);
  }
  return { tokens, profiles };
}
