import type { FunctionComponent } from "preact";
import { useEffect, useState } from "preact/hooks";

/** Returns a component whose code is loaded when it is first shown, not with the page. */
export function onDemand<Props extends object>(
  load: () => Promise<FunctionComponent<Props>>,
): FunctionComponent<Props> {
  let Loaded: FunctionComponent<Props> | undefined;
  return (props) => {
    const [state, setState] = useState<"loading" | "ready" | "failed">(Loaded ? "ready" : "loading");
    useEffect(() => {
      if (Loaded) return;
      load().then(
        (component) => {
          Loaded = component;
          setState("ready");
        },
        () => setState("failed"),
      );
    }, []);
    if (Loaded) return <Loaded {...props} />;
    return (
      <p class="empty loading" role="status">
        {state === "failed" ? "This part could not be loaded. Reload the page to try again." : "Loading…"}
      </p>
    );
  };
}
