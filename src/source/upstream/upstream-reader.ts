import { type Answer, type Failure, type RequestSettings, requestJson } from "../../lib/io/request-json.ts";
import type { Snapshot } from "../../model/index.ts";
import { fieldOf, isRecord } from "./upstream-json.ts";
import {
  joinParts,
  mergeParts,
  misfitOfFlares,
  type Part,
  RESOURCES,
  type Resource,
  readExplanations,
  readObservedAtMs,
  readResource,
} from "./upstream-part.ts";
import type { UpstreamReports } from "./upstream-reports.ts";
import { joinTold, NOTHING_TOLD, readTold, type Told } from "./upstream-told.ts";

/** What one look at an upstream brought. */
export type Reading =
  | {
      readonly kind: "read";
      readonly snapshot: Snapshot;
      /** Event time that the upstream gives; of the four resources, which give none, wall time; `undefined` where what it gives is no moment. */
      readonly observedAtMs: number | undefined;
      readonly told: Told;
      /** The resources that were answered; of the others the snapshot holds the last good answer. */
      readonly heard: readonly Resource[];
      /** Why the others were not. */
      readonly partly: Failure | undefined;
    }
  | { readonly kind: "failed"; readonly failure: Failure };

/** A part as last read from a path, and the ETag by which the upstream can say that it is still so. */
interface Held {
  readonly part: Part;
  readonly etag: string | undefined;
  readonly observedAtMs: number | undefined;
  readonly told: Told;
}

type Path = Resource | "snapshot";
type Unserved = Exclude<Answer, { kind: "fresh" | "unchanged" }>;

/** The settings of an {@link UpstreamReader}. */
export interface ReaderSettings extends RequestSettings {
  /** Where `/api/v1` is found, without a slash at the end. */
  readonly base: string;
  readonly reports: UpstreamReports;
}

/** An upstream that lacks `/snapshot` is asked for it again after this time: it may have been renewed. */
const PROBE_EVERY_MS = 300_000;

/**
 * Looks at an upstream once at a time: asks for `/snapshot`, which is of one instant, or, where that is not offered, for the four
 * resources together. Remembers which, and what it read last, so that an unchanged upstream costs a 304.
 */
export class UpstreamReader {
  readonly #settings: ReaderSettings;
  readonly #held = new Map<Path, Held>();
  /** Whether `/snapshot` is offered; `undefined` while that is not known. */
  #offered: boolean | undefined;
  #offeredAtMs = 0;
  #probeAtMs = 0;
  #notModified = 0;

  constructor(settings: ReaderSettings) {
    this.#settings = settings;
  }

  /** How many bodies were saved by a 304. */
  get notModified(): number {
    return this.#notModified;
  }

  /** The next {@link read} asks for `/snapshot` again: after an outage another program may answer. */
  probeSoon(): void {
    this.#probeAtMs = this.#settings.clock.monotonic();
  }

  /**
   * One look. `before` is the last snapshot that was believed, whose items stand in for those that are invalid now; `undefined` at first.
   * Rejects only with the signal's reason.
   */
  async read(before: Snapshot | undefined, signal: AbortSignal): Promise<Reading> {
    this.#settings.reports.startAnswer();
    if (this.#offered !== false || this.#settings.clock.monotonic() >= this.#probeAtMs) {
      const reading = await this.#readSnapshot(before, signal);
      if (reading) return reading;
    }
    return await this.#readResources(before, signal);
  }

  /** `undefined`: `/snapshot` is not to be had, and the four resources are to be tried. */
  async #readSnapshot(before: Snapshot | undefined, signal: AbortSignal): Promise<Reading | undefined> {
    const taken = await this.#take("snapshot", signal, (body) => this.#readWhole(body, before));
    if ("held" in taken) {
      this.#offered = true;
      this.#offeredAtMs = this.#settings.clock.monotonic();
      for (const resource of RESOURCES) this.#held.delete(resource);
      const { part, observedAtMs, told } = taken.held;
      const snapshot = joinParts([part], before);
      return { kind: "read", snapshot, observedAtMs, told, heard: RESOURCES, partly: undefined };
    }
    const { kind, failure } = taken;
    const nowMs = this.#settings.clock.monotonic();
    // Once offered, a page of some proxy in its place is a fault that will pass, and no reason yet to do without explanations.
    const patient = this.#offered === true && nowMs - this.#offeredAtMs < PROBE_EVERY_MS;
    const fallBack = kind === "absent" || this.#offered === false || (kind === "unusable" && !patient);
    if (!fallBack) return { kind: "failed", failure };
    this.#probeAtMs = nowMs + PROBE_EVERY_MS;
    this.#held.delete("snapshot");
    return undefined;
  }

  async #readResources(before: Snapshot | undefined, signal: AbortSignal): Promise<Reading> {
    const all = await Promise.all(
      RESOURCES.map(async (resource) => {
        const taken = await this.#take(resource, signal, (body) => this.#readOne(resource, body, before));
        return {
          resource,
          failure: "held" in taken ? undefined : taken.failure,
          held: this.#held.get(resource),
        };
      }),
    );
    const failures = all.flatMap(({ failure }) => failure ?? []);
    const held = all.flatMap((one) => one.held ?? []);
    const failure = failures.length === 0 ? undefined : joinFailures(failures);
    if (failure && (failures.length === all.length || held.length < all.length)) {
      return { kind: "failed", failure };
    }
    this.#offered = false;
    return {
      kind: "read",
      snapshot: joinParts(
        held.map(({ part }) => part),
        before,
      ),
      observedAtMs: this.#settings.clock.now(),
      told: joinTold(held.map(({ told }) => told)),
      heard: all.flatMap(({ resource, failure: one }) => (one ? [] : resource)),
      partly: failure,
    };
  }

  /** Asks for one path; what comes is held, to be confirmed by a 304 or to stand in when a later answer fails. */
  async #take(
    path: Path,
    signal: AbortSignal,
    read: (body: unknown) => Omit<Held, "etag" | "told"> | { readonly misfit: string },
  ): Promise<{ readonly held: Held } | { readonly kind: Unserved["kind"]; readonly failure: Failure }> {
    const last = this.#held.get(path);
    const answer = await requestJson(
      `${this.#settings.base}/api/v1/${path}`,
      last?.etag,
      this.#settings,
      signal,
    );
    const told = (reason: string) => `/${path} ${reason}`;
    if (answer.kind === "fresh") {
      const content = read(answer.body);
      if ("misfit" in content) return { kind: "unusable", failure: { reason: told(content.misfit) } };
      return this.#hold(path, {
        ...content,
        etag: answer.etag,
        told: readTold(answer.headers, NOTHING_TOLD),
      });
    }
    if (answer.kind === "unchanged" && last) {
      this.#notModified += 1;
      return this.#hold(path, { ...last, told: readTold(answer.headers, last.told) });
    }
    const failure = answer.kind === "unchanged" ? { reason: "answered 304" } : answer.failure;
    const kind = answer.kind === "unchanged" ? "unusable" : answer.kind;
    return { kind, failure: { ...failure, reason: told(failure.reason) } };
  }

  #hold(path: Path, held: Held): { readonly held: Held } {
    this.#held.set(path, held);
    return { held };
  }

  #readWhole(body: unknown, before: Snapshot | undefined) {
    const { reports } = this.#settings;
    const flares = fieldOf(body, "flares");
    const observedAtMs = readObservedAtMs(fieldOf(body, "observed_at"), reports);
    if (!this.#offered || before === undefined) {
      const missing = RESOURCES.find((resource) => !isRecord(fieldOf(body, resource)));
      if (missing) return { misfit: `answered JSON of another form: ${missing} is not an object` };
      if (observedAtMs === undefined)
        return { misfit: "answered JSON of another form: it lacks observed_at" };
    }
    const misfit = misfitOfFlares(flares, before === undefined);
    if (misfit) return { misfit };
    const parts = RESOURCES.map((name) => readResource(name, fieldOf(body, name), before, reports));
    const part = mergeParts(parts);
    const explanations = readExplanations(fieldOf(body, "explanations"), part.flares, before, reports);
    return { part: { ...part, explanations }, observedAtMs };
  }

  #readOne(resource: Resource, body: unknown, before: Snapshot | undefined) {
    const misfit = resource === "flares" ? misfitOfFlares(body, before === undefined) : undefined;
    if (misfit) return { misfit };
    return { part: readResource(resource, body, before, this.#settings.reports), observedAtMs: undefined };
  }
}

/** The first reason, and the longest time for which any of them asked. */
function joinFailures(failures: readonly Failure[]): Failure {
  const waits = failures.flatMap(({ retryAfterMs }) => retryAfterMs ?? []);
  return {
    reason: failures[0]?.reason ?? "",
    ...(waits.length === 0 ? {} : { retryAfterMs: Math.max(...waits) }),
  };
}
