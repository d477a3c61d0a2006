import { render } from "preact";
import { App } from "./app.tsx";
import { renderedMain, server } from "./state/store.ts";
import { followAddress } from "./state/use-route.ts";

const root = document.getElementById("app");
if (root) {
  server.value = new URL(".", location.href);
  followAddress();
  renderedMain.value = root.querySelector("main")?.innerHTML ?? "";
  render(<App />, root);
}
