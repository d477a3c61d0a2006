/* Fills in samples, makes tabs of them, and copies them. Served within page.js. */

const keyInput = document.querySelector("#key");
/** The server renders its default address, and `KEY` for the key, into the samples for everyone. */
const ownSamples = [...document.querySelectorAll(".own")].map((one) => [one, one.textContent]);

function fillSamples() {
  const key = keyInput?.value.trim() || "KEY";
  for (const [sample, text] of ownSamples)
    sample.textContent = text
      .replaceAll("http://127.0.0.1:8080", location.origin)
      .replace(/\bKEY\b/g, () => key);
}
keyInput?.addEventListener("input", fillSamples);
fillSamples();

for (const sample of document.querySelectorAll(".sample")) {
  const button = element("button", "Copy");
  Object.assign(button, { type: "button", className: "copy", ariaLive: "polite" });
  button.addEventListener("click", async () => {
    button.textContent = (await copy(sample)) ? "Copied" : "Press Ctrl-C";
  });
  button.addEventListener("blur", () => {
    button.textContent = "Copy";
  });
  const box = Object.assign(element("div", ""), { className: "copyable" });
  sample.replaceWith(box);
  box.append(sample, button);
}

/** Copies an element's text. Returns false if only the reader can: then the text is selected. */
async function copy(sample) {
  try {
    await navigator.clipboard.writeText(sample.textContent);
    return true;
  } catch {
    // Pages without TLS have no clipboard.
    getSelection().selectAllChildren(sample);
    return document.execCommand("copy");
  }
}

const TAB_STEPS = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };
const tabGroups = [...document.querySelectorAll(".tabs")].map(prepareTabs);

/**
 * Makes tabs of a group's sections, as in the ARIA Authoring Practices. Returns a function that
 * shows the tab of a name, if the group has it.
 */
function prepareTabs(group, at) {
  const list = Object.assign(element("div", ""), { role: "tablist", ariaLabel: group.dataset.label });
  const sections = [...group.children];
  const tabs = sections.map((section, index) => {
    const name = section.firstElementChild;
    const tab = element("button", name.textContent);
    name.remove();
    Object.assign(tab, { type: "button", role: "tab", id: `tab-${at}-${index}` });
    Object.assign(section, { role: "tabpanel", id: `panel-${at}-${index}` });
    section.setAttribute("aria-labelledby", tab.id);
    tab.setAttribute("aria-controls", section.id);
    tab.addEventListener("click", () => {
      for (const show of tabGroups) show(tab.textContent);
    });
    tab.addEventListener("keydown", (event) => {
      const step = TAB_STEPS[event.key];
      if (step === undefined) return;
      event.preventDefault();
      const to = tabs[Math.max(0, Math.min(tabs.length - 1, index + step))];
      to.focus();
      to.click();
    });
    return tab;
  });
  const show = (name) => {
    const chosen = tabs.findIndex(({ textContent }) => textContent === name);
    if (chosen < 0) return;
    for (const [index, tab] of tabs.entries()) {
      tab.ariaSelected = `${index === chosen}`;
      tab.tabIndex = index === chosen ? 0 : -1;
      sections[index].hidden = index !== chosen;
    }
  };
  list.append(...tabs);
  group.prepend(list);
  show(tabs[0].textContent);
  return show;
}
