import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { canonicalOf, type Route, readRoute } from "../route.ts";
import { returnTo, type ScrollPosition, scrollPosition } from "./scroll-position.ts";

/** Goes to another address: as a new step of the history, or in place of the current one. */
export type Go = (hash: string, how: "push" | "replace") => void;

/**
 * Follows the address. Once the page `isReady`, back and forward restore the scroll position of
 * their step. A link starts at the top. Both move the focus to the content. {@link Go} keeps
 * position and focus. A reload restores the position.
 */
export function useRoute(isReady: boolean): readonly [Route, Go] {
  const [step, setStep] = useState(() => currentStep());
  const positions = useRef(new Map<string, ScrollPosition>());
  const restored = useRef<string>(undefined);
  // Not after the first frame: the address may change before it.
  useLayoutEffect(() => {
    history.scrollRestoration = "manual";
    const leave = (id: string) => positions.current.set(id, scrollPosition());
    const look = () => {
      // This anchor is the skip link's target, not a page.
      if (location.hash === "#content") return;
      setStep((before) => {
        leave(before.id);
        return currentStep();
      });
    };
    // Only the history's state outlives a reload.
    const store = () => history.replaceState({ step: currentStep().id, top: scrollY }, "");
    addEventListener("popstate", look);
    addEventListener("pagehide", store);
    return () => {
      removeEventListener("popstate", look);
      removeEventListener("pagehide", store);
    };
  }, []);
  useLayoutEffect(() => {
    if (!isReady || restored.current === step.id) return;
    const isFirst = restored.current === undefined;
    restored.current = step.id;
    const position = positions.current.get(step.id) ?? (isFirst ? step.position : undefined);
    if (!isFirst) document.getElementById("content")?.focus({ preventScroll: true });
    if (position) return returnTo(position);
    if (!isFirst) scrollTo(0, 0);
  }, [isReady, step.id]);
  const go: Go = (hash, how) => {
    if (how === "replace") history.replaceState(history.state, "", hash);
    else {
      positions.current.set(step.id, scrollPosition());
      history.pushState(null, "", hash);
    }
    const next = currentStep();
    // The visitor stays at the same control: the page does not start over.
    restored.current = next.id;
    setStep(next);
  };
  return [step.route, go];
}

interface Step {
  readonly id: string;
  readonly route: Route;
  readonly position: ScrollPosition | undefined;
}

let steps = 0;

/**
 * Returns the current step of the history. Gives a new step an id, and replaces an address that is
 * not canonical, which may leave this page.
 */
function currentStep(): Step {
  const canonical = canonicalOf(location.hash);
  if (canonical?.startsWith("#")) history.replaceState(history.state, "", canonical);
  else if (canonical !== undefined) location.replace(canonical);
  const route = readRoute(location.hash);
  const state: unknown = history.state;
  if (typeof state === "object" && state !== null && "step" in state)
    return {
      id: String(state.step),
      route,
      position: "top" in state ? { top: Number(state.top) } : undefined,
    };
  steps += 1;
  // Ids outlive a reload, but the count starts over, so they contain the time.
  const id = `${performance.timeOrigin}-${steps}`;
  history.replaceState({ step: id }, "");
  return { id, route, position: undefined };
}
