import { computed, signal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import type { GroupName } from "../../../base/model/groups.ts";
import { canonicalOf, type Route, readRoute } from "../route.ts";
import { DEFAULT_QUERY } from "./flare-query.ts";
import { returnTo, type ScrollPosition, scrollPosition } from "./scroll-position.ts";
import { readStored, writeStored } from "./visitor/stored.ts";

interface Step {
  readonly id: string;
  readonly route: Route;
}

/** The current step of the browser's history. */
const step = signal<Step>({ id: "", route: readRoute("") });
/** What the address names. */
export const route = computed(() => step.value.route);
/** The group whose flares the page shows: of pages without flares, the default group. */
export const shownGroup = computed((): GroupName => {
  const shown = route.value;
  if (shown.page === "token") return shown.group;
  return "query" in shown ? shown.query.group : DEFAULT_QUERY.group;
});

/** Where the visitor left each step. */
const positions = new Map<string, ScrollPosition>();
/** The step whose position and focus are right. */
let restored: string | undefined;
let steps = 0;

/** Goes to another address: as a new step of the history, or in place of the current one. */
export function go(hash: string, how: "push" | "replace"): void {
  if (how === "replace") history.replaceState(history.state, "", hash);
  else {
    positions.set(step.peek().id, scrollPosition());
    history.pushState(null, "", hash);
  }
  const next = currentStep();
  // The visitor stays at the same control: the page does not start over.
  restored = next.id;
  step.value = next;
}

/** Follows the address. Call it before the first rendering. */
export function followAddress(): void {
  step.value = currentStep();
  history.scrollRestoration = "manual";
  addEventListener("popstate", () => {
    // This anchor is the skip link's target, not a page.
    if (location.hash === "#content") return;
    positions.set(step.peek().id, scrollPosition());
    step.value = currentStep();
  });
  // Back may return from another page, or a reload keep the step.
  addEventListener("pagehide", () => storePosition(step.peek().id));
  restorePosition();
}

const STORAGE_KEY = "flarewire-scroll";

function storePosition(id: string): void {
  writeStored("sessionStorage", STORAGE_KEY, JSON.stringify([id, scrollPosition()]));
}

function restorePosition(): void {
  readStored("sessionStorage", STORAGE_KEY, (text) => {
    const [id, { top, row }] = JSON.parse(text);
    positions.set(String(id), { top: Number(top), row });
  });
  writeStored("sessionStorage", STORAGE_KEY, undefined);
}

/**
 * Once the page `isReady`, back and forward restore the scroll position of their step. A link
 * starts at the top. Both move the focus to the content. {@link go} keeps position and focus. A
 * reload restores the position.
 */
export function useScrollPosition(isReady: boolean): void {
  const { id } = step.value;
  useLayoutEffect(() => {
    if (!isReady || restored === id) return;
    const isFirst = restored === undefined;
    restored = id;
    const left = positions.get(id);
    if (!isFirst) document.getElementById("content")?.focus({ preventScroll: true });
    if (left) return returnTo(left);
    if (!isFirst) scrollTo(0, 0);
  }, [isReady, id]);
}

/**
 * Returns the current step of the history. Gives a new step an id, and replaces an address that is
 * not canonical, which may leave this page.
 */
function currentStep(): Step {
  const canonical = canonicalOf(location.hash);
  if (canonical?.startsWith("#")) history.replaceState(history.state, "", canonical);
  else if (canonical !== undefined) location.replace(canonical);
  const shown = readRoute(location.hash);
  const state: unknown = history.state;
  if (typeof state === "object" && state !== null && "step" in state)
    return { id: String(state.step), route: shown };
  steps += 1;
  // Ids outlive a reload, but the count starts over, so they contain the time.
  const id = `${performance.timeOrigin}-${steps}`;
  history.replaceState({ step: id }, "");
  return { id, route: shown };
}
