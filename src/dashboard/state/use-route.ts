import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { canonicalOf, type Route, readRoute } from "../route.ts";
import { type Place, placeOf, returnTo } from "./scroll-place.ts";

/** Goes to another address: as a new step of the history, or in place of the current one. */
export type Go = (hash: string, how: "push" | "replace") => void;

/**
 * Follows the address. Back and forward restore the scroll position of their step once the page
 * `isReady`; a new step starts at the top, with the focus on the content.
 */
export function useRoute(isReady: boolean): readonly [Route, Go] {
  const [step, setStep] = useState(() => currentStep());
  const positions = useRef(new Map<string, Place>());
  const restored = useRef<string>(undefined);
  useEffect(() => {
    history.scrollRestoration = "manual";
    const leave = (id: string) => positions.current.set(id, placeOf());
    const look = () => {
      // This anchor is the skip link's target, not a page.
      if (location.hash === "#content") return;
      setStep((before) => {
        leave(before.id);
        return currentStep();
      });
    };
    // A reload forgets all but the step's own state.
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
    const place = positions.current.get(step.id) ?? (isFirst ? step.place : undefined);
    if (!isFirst) document.getElementById("content")?.focus({ preventScroll: true });
    if (place) return returnTo(place);
    if (!isFirst) scrollTo(0, 0);
  }, [isReady, step.id]);
  const go: Go = (hash, how) => {
    if (how === "replace") history.replaceState(history.state, "", hash);
    else {
      positions.current.set(step.id, placeOf());
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
  /** The scroll position before a reload. */
  readonly place: Place | undefined;
}

let steps = 0;

/** Returns the current step of the history. Names it, if it is new. */
function currentStep(): Step {
  const canonical = canonicalOf(location.hash);
  if (canonical?.startsWith("#")) history.replaceState(history.state, "", canonical);
  else if (canonical !== undefined) location.replace(canonical);
  const route = readRoute(location.hash);
  const state: unknown = history.state;
  if (typeof state === "object" && state !== null && "step" in state)
    return { id: String(state.step), route, place: "top" in state ? { top: Number(state.top) } : undefined };
  steps += 1;
  // The names of steps outlive a reload, which counts from the start.
  const id = `${performance.timeOrigin}-${steps}`;
  history.replaceState({ step: id }, "");
  return { id, route, place: undefined };
}
