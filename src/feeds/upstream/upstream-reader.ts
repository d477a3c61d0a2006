import { fieldOf, isRecord } from "../../base/lib/untrusted-json.ts";
import type { Snapshot } from "../../base/model/index.ts";
import { type Answer, type Failure, type RequestSettings, requestJson } from "../service/request-json.ts";
import type { UpstreamReports } from "./upstream-reports.ts";
import {
  completeSnapshot,
  mergeResources,
  mismatchOfFlares,
  RESOURCES,
  type Resource,
  type Resources,
  readNotes,
  readObservedAtMs,
  readResource,
} from "./upstream-resources.ts";
import { DEFAULT_STATUS, mergeStatuses, readStatus, type UpstreamStatus } from "./upstream-status.ts";

export type Reading =
  | {
      readonly kind: "read";
      readonly snapshot: Snapshot;
      /** Event time, `undefined` if invalid; wall time for the four resources, which have none. */
      readonly observedAtMs: number | undefined;
      readonly status: UpstreamStatus;
      /** The resources in the response. For others, the snapshot has the last good ones. */
      readonly answered: readonly Resource[];
      /** Why the other resources failed. */
      readonly partly: Failure | undefined;
    }
  | { readonly kind: "failed"; readonly failure: Failure };

/** The last content of a path, and the ETag to revalidate it. */
interface CachedResources {
  readonly resources: Resources;
  readonly etag: string | undefined;
  readonly observedAtMs: number | undefined;
  readonly status: UpstreamStatus;
}

type Path = Resource | "snapshot";
type Unserved = Exclude<Answer, { kind: "fresh" | "unchanged" }>;

interface ReaderSettings extends RequestSettings {
  /** Base address of `/api/v1`, without a trailing slash. */
  readonly base: string;
  readonly reports: UpstreamReports;
}

/** Interval for checking whether an upstream without `/snapshot` offers it now. */
const PROBE_EVERY_MS = 300_000;

/**
 * Polls `/snapshot` or, if the upstream does not offer it, the four resources. An unchanged
 * upstream costs one or four responses with status 304.
 */
export class UpstreamReader {
  readonly #settings: ReaderSettings;
  readonly #cache = new Map<Path, CachedResources>();
  /** Whether `/snapshot` is offered; `undefined` if unknown. */
  #offered: boolean | undefined;
  #offeredAtMs = 0;
  #probeAtMs = 0;
  #notModified = 0;

  constructor(settings: ReaderSettings) {
    this.#settings = settings;
  }

  get notModified(): number {
    return this.#notModified;
  }

  /** Makes the next {@link read} try `/snapshot` again: another program may respond. */
  probeSoon(): void {
    this.#probeAtMs = this.#settings.clock.monotonic();
  }

  /**
   * Polls once; `before` replaces invalid items. Rejects with the signal's reason, or with what the
   * receiver of the reports throws.
   */
  async read(before: Snapshot | undefined, signal: AbortSignal): Promise<Reading> {
    this.#settings.reports.startAnswer();
    if (this.#offered !== false || this.#settings.clock.monotonic() >= this.#probeAtMs) {
      const reading = await this.#readSnapshot(before, signal);
      if (reading) return reading;
    }
    return await this.#readResources(before, signal);
  }

  /** Returns `undefined` if `/snapshot` is unavailable and the four resources should be tried. */
  async #readSnapshot(before: Snapshot | undefined, signal: AbortSignal): Promise<Reading | undefined> {
    const taken = await this.#take("snapshot", signal, (body) => this.#parseSnapshot(body, before));
    if ("cached" in taken) {
      this.#offered = true;
      this.#offeredAtMs = this.#settings.clock.monotonic();
      for (const resource of RESOURCES) this.#cache.delete(resource);
      const { resources, observedAtMs, status } = taken.cached;
      const snapshot = completeSnapshot([resources], before);
      return { kind: "read", snapshot, observedAtMs, status, answered: RESOURCES, partly: undefined };
    }
    const { kind, failure } = taken;
    const nowMs = this.#settings.clock.monotonic();
    // If it was offered before, an unexpected page is probably a proxy's, and temporary.
    const patient = this.#offered === true && nowMs - this.#offeredAtMs < PROBE_EVERY_MS;
    const fallBack = kind === "absent" || this.#offered === false || (kind === "unusable" && !patient);
    if (!fallBack) return { kind: "failed", failure };
    this.#probeAtMs = nowMs + PROBE_EVERY_MS;
    this.#cache.delete("snapshot");
    return undefined;
  }

  async #readResources(before: Snapshot | undefined, signal: AbortSignal): Promise<Reading> {
    const all = await Promise.all(
      RESOURCES.map(async (resource) => {
        const taken = await this.#take(resource, signal, (body) =>
          this.#parseResource(resource, body, before),
        );
        return {
          resource,
          failure: "cached" in taken ? undefined : taken.failure,
          cached: this.#cache.get(resource),
        };
      }),
    );
    const failures = all.flatMap(({ failure }) => failure ?? []);
    const cached = all.flatMap((one) => one.cached ?? []);
    const failure = failures.length === 0 ? undefined : joinFailures(failures);
    if (failure && (failures.length === all.length || cached.length < all.length)) {
      return { kind: "failed", failure };
    }
    this.#offered = false;
    return {
      kind: "read",
      snapshot: completeSnapshot(
        cached.map(({ resources }) => resources),
        before,
      ),
      observedAtMs: this.#settings.clock.now(),
      status: mergeStatuses(cached.map(({ status }) => status)),
      answered: all.flatMap(({ resource, failure: one }) => (one ? [] : resource)),
      partly: failure,
    };
  }

  /** Requests a path. Caches its content to revalidate it, and to use it if a later poll fails. */
  async #take(
    path: Path,
    signal: AbortSignal,
    read: (body: unknown) => Omit<CachedResources, "etag" | "status"> | { readonly mismatch: string },
  ): Promise<
    { readonly cached: CachedResources } | { readonly kind: Unserved["kind"]; readonly failure: Failure }
  > {
    const last = this.#cache.get(path);
    const answer = await requestJson(
      `${this.#settings.base}/api/v1/${path}`,
      last?.etag,
      this.#settings,
      signal,
    );
    const withPath = (reason: string) => `/${path} ${reason}`;
    if (answer.kind === "fresh") {
      const content = read(answer.body);
      if ("mismatch" in content) return { kind: "unusable", failure: { reason: withPath(content.mismatch) } };
      return this.#store(path, {
        ...content,
        etag: answer.etag,
        status: readStatus(answer.headers, DEFAULT_STATUS),
      });
    }
    if (answer.kind === "unchanged" && last) {
      this.#notModified += 1;
      return this.#store(path, { ...last, status: readStatus(answer.headers, last.status) });
    }
    const failure = answer.kind === "unchanged" ? { reason: "returned 304" } : answer.failure;
    const kind = answer.kind === "unchanged" ? "unusable" : answer.kind;
    return { kind, failure: { ...failure, reason: withPath(failure.reason) } };
  }

  #store(path: Path, cached: CachedResources): { readonly cached: CachedResources } {
    this.#cache.set(path, cached);
    return { cached };
  }

  #parseSnapshot(body: unknown, before: Snapshot | undefined) {
    const { reports } = this.#settings;
    const flares = fieldOf(body, "flares");
    const observedAtMs = readObservedAtMs(fieldOf(body, "observed_at"), reports);
    if (!this.#offered || before === undefined) {
      const missing = RESOURCES.find((resource) => !isRecord(fieldOf(body, resource)));
      if (missing) return { mismatch: `returned unexpected JSON: ${missing} is not an object` };
      if (observedAtMs === undefined)
        return { mismatch: "returned unexpected JSON: observed_at is missing or invalid" };
    }
    const mismatch = mismatchOfFlares(flares, before === undefined);
    if (mismatch) return { mismatch };
    const all = RESOURCES.map((name) => readResource(name, fieldOf(body, name), before, reports));
    const resources = mergeResources(all);
    return {
      resources: { ...resources, ...readNotes(body, resources.flares, before, reports) },
      observedAtMs,
    };
  }

  #parseResource(resource: Resource, body: unknown, before: Snapshot | undefined) {
    const mismatch = resource === "flares" ? mismatchOfFlares(body, before === undefined) : undefined;
    if (mismatch) return { mismatch };
    const resources = readResource(resource, body, before, this.#settings.reports);
    return { resources, observedAtMs: undefined };
  }
}

/** Returns the first reason, and the longest requested delay. */
function joinFailures(failures: readonly Failure[]): Failure {
  const waits = failures.flatMap(({ retryAfterMs }) => retryAfterMs ?? []);
  return {
    reason: failures[0]?.reason ?? "",
    ...(waits.length === 0 ? {} : { retryAfterMs: Math.max(...waits) }),
  };
}
