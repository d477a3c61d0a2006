import { options, render } from "preact";
import { App } from "./app.tsx";

// At most one change a frame, before it is painted. What glides relies on that.
options.debounceRendering = requestAnimationFrame;

const root = document.getElementById("app");
if (root) render(<App server={new URL(".", location.href)} />, root);
