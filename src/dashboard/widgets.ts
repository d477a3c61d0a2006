import type { Flares } from "../model/index.ts";

/* The page of widgets, with this server's address in the code to copy and a token in the badge. */

const server = new URL(".", location.href);
const script = document.createElement("script");
script.src = new URL("widget.js", server).href;
const strip = document.createElement("script");
strip.src = new URL("flare-strip.js", server).href;
document.head.append(script, strip);

for (const code of document.querySelectorAll("pre code")) {
  code.textContent = code.textContent
    .replace("widget.js", script.src)
    .replace("flare-strip.js", strip.src)
    .replace("WS_ORIGIN", server.origin.replace(/^http/, "ws"))
    .replaceAll("ORIGIN", server.origin);
}

const config = document.querySelector<HTMLFormElement>("#config");
const preview = document.querySelector("#preview");
const made = document.querySelector("#made");

/** Shows the element that the form describes, and its code. */
function configure(): void {
  if (!config) return;
  const chosen = new FormData(config);
  const name = chosen.get("element") === "flare-ticker" ? "flare-ticker" : "flare-list";
  const columns = chosen.getAll("columns").join(" ");
  const attributes = [
    ["limit", `${chosen.get("limit")}`],
    ["theme", `${chosen.get("theme")}`],
    ["columns", columns],
  ].filter(([, value = ""]) => value !== "");
  const element = document.createElement(name);
  for (const [attribute = "", value = ""] of attributes) element.setAttribute(attribute, value);
  preview?.replaceChildren(element);
  const code = attributes.map(([attribute, value]) => ` ${attribute}="${value}"`).join("");
  if (made) made.textContent = `<script src="${script.src}" defer></script>\n<${name}${code}></${name}>`;
}

config?.addEventListener("input", configure);
config?.addEventListener("submit", (event) => event.preventDefault());
configure();

const input = document.querySelector<HTMLInputElement>("#token");
const badge = document.querySelector("flare-badge");
const list = document.querySelector("flare-list");
const trouble = document.querySelector<HTMLElement>("#trouble");
const copied = badge?.nextElementSibling?.firstElementChild;

function showToken(text: string): void {
  // Remove anything that is not part of an address: a quote would end the attribute.
  const address = text.replace(/[^0-9a-z]/gi, "");
  badge?.setAttribute("token", address);
  if (copied) copied.textContent = copied.textContent.replace(/token="\w*"/, `token="${address}"`);
}

/** Starts with a flaring token, if there is one that the visitor may see. */
async function suggestToken(): Promise<void> {
  const answer = await fetch(new URL("api/v1/flares", server));
  if (!answer.ok) return;
  const { pro, free }: Flares = await answer.json();
  const [flare] = [...pro, ...free];
  if (!flare || !input) return;
  input.value = flare.token.address;
  showToken(input.value);
}

const TROUBLES: Readonly<Record<string, string>> = {
  waiting: "The server has no data yet.",
  refused: "The server shows no flares to visitors without a key, and widgets have none.",
};

/** Shows why the elements are empty. */
function showTrouble(): void {
  const text = TROUBLES[list?.getAttribute("state") ?? ""];
  if (!trouble?.firstElementChild) return;
  trouble.firstElementChild.textContent = text ?? "";
  trouble.hidden = text === undefined;
}

if (list) new MutationObserver(showTrouble).observe(list, { attributeFilter: ["state"] });
input?.addEventListener("input", () => showToken(input.value));
// Without a response the badge keeps its initial address.
suggestToken().catch(() => {});
