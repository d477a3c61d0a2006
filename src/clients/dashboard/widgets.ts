import type { Flares } from "../../base/model/index.ts";

/*
 * Script of the page of widgets: puts this server's address into the code to copy and a token into
 * the badge, and shows the element that the form describes.
 */

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
const previewCode = document.querySelector("#made");

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
  if (previewCode)
    previewCode.textContent = `<script src="${script.src}" defer></script>\n<${name}${code}></${name}>`;
}

config?.addEventListener("input", configure);
config?.addEventListener("submit", (event) => event.preventDefault());
configure();

const input = document.querySelector<HTMLInputElement>("#token");
const badge = document.querySelector("flare-badge");
const list = document.querySelector("flare-list");
const notice = document.querySelector<HTMLElement>("#trouble");
const badgeCode = badge?.nextElementSibling?.firstElementChild;

function showToken(text: string): void {
  // Remove anything that is not part of an address: a quote would end the attribute.
  const address = text.replace(/[^0-9a-z]/gi, "");
  badge?.setAttribute("token", address);
  if (badgeCode) badgeCode.textContent = badgeCode.textContent.replace(/token="\w*"/, `token="${address}"`);
}

/** Puts a flaring token into the badge, if visitors without a key see one. */
async function suggestToken(): Promise<void> {
  const answer = await fetch(new URL("api/v1/flares", server));
  if (!answer.ok) return;
  const { pro, free }: Flares = await answer.json();
  const [flare] = [...pro, ...free];
  if (!flare || !input) return;
  input.value = flare.token.address;
  showToken(input.value);
}

const STATE_TEXTS: Readonly<Record<string, string>> = {
  waiting: "The server has no data yet.",
  refused: "The server shows no flares to visitors without a key, and widgets send none.",
};

/** Shows why the elements are empty, or hides the reason when they are not. */
function showState(): void {
  const text = STATE_TEXTS[list?.getAttribute("state") ?? ""];
  if (!notice?.firstElementChild) return;
  notice.firstElementChild.textContent = text ?? "";
  notice.hidden = text === undefined;
}

if (list) new MutationObserver(showState).observe(list, { attributeFilter: ["state"] });
input?.addEventListener("input", () => showToken(input.value));
// If the request fails, the badge keeps its initial address.
suggestToken().catch(() => {});
