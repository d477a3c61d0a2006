/* Searches the documents. Served at the end of page.js, whose functions it uses. */

const MAX_FOUND = 12;
/** Pause in typing after which the found pages are loaded, to show the text around the words. */
const RESTING_MS = 200;
/** Characters of text to show before and after a found word. */
const BESIDE = 50;
const BLOCKS = "p, li, tr, dt, dd";
const HEADINGS = "h1, h2, h3";

const search = document.querySelector("#search");
if (search) prepareSearch(search);

/** Lists the entries of the index with the typed words, the best first, and loads it at first use. */
function prepareSearch(form) {
  const [input, status, list] = ["input", "output", "ol"].map((name) => form.querySelector(name));
  let index;
  let resting;
  form.hidden = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    list.querySelector("a")?.click();
  });
  document.addEventListener("keydown", (event) => {
    const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
    if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    input.focus();
  });
  input.addEventListener("input", async () => {
    const words = wordsOf(input.value);
    try {
      index ??= fetch(form.dataset.index).then((response) => response.json());
      show(words, (await index).entries);
    } catch {
      index = undefined;
      status.textContent = "The index cannot be loaded.";
    }
  });
  const show = (words, entries) => {
    const found = findEntries(words, entries);
    status.textContent =
      words.length === 0 ? "" : found.length === 0 ? "Nothing found." : countText(found.length);
    const items = found.slice(0, MAX_FOUND).map(([title, page, href]) => {
      const link = element("a", title, element("small", page));
      link.href = href;
      return element("li", "", link);
    });
    list.replaceChildren(...items);
    clearTimeout(resting);
    resting = setTimeout(() => {
      for (const item of items) void showLine(item, words);
    }, RESTING_MS);
  };
}

/**
 * Words that only make a question of the others, as in "how to stop the server", and "api", which
 * adds nothing to others here.
 */
const FILLERS =
  /^(?:an?|and|api|are|by|can|did|do(?:es)?|for|how|in|is|it|my|of|the|to|what|when|where|which|why|with)$/;

/** Returns the words of a typed text, without fillers if there are others. */
function wordsOf(text) {
  const words = text
    .toLowerCase()
    // The documents write keys as in Ctrl-C.
    .replace(/(?<=\b(?:alt|ctrl|shift))\+(?=\w)/g, "-")
    .split(/\s+/)
    .map((word) => word.replace(/\?$/, ""))
    .filter((word) => word !== "");
  const rest = words.filter((word) => !FILLERS.test(word));
  return rest.length === 0 ? words : rest;
}

/**
 * Returns the entries that have most of the words, or one less. Those with more words are first, then
 * those with rarer words. Notes of the changelog are last.
 */
function findEntries(words, entries) {
  const ranks = words.map(rankWord);
  const all = entries.map((entry) => ({ entry, each: ranks.map((rank) => rank(entry)) }));
  const weights = words.map((_, at) => {
    const uses = all.filter(({ each }) => each[at] > 0).length;
    return Math.log(1 + entries.length / Math.max(uses, 1));
  });
  const found = all.map(({ entry, each }) => ({
    entry,
    isOld: entry[1].startsWith("Changelog") && entry[0] !== "Changelog",
    count: each.filter((rank) => rank > 0).length,
    score: sum(each.map((rank, at) => rank * weights[at])),
  }));
  const least = Math.max(1, ...found.map(({ count }) => count - 1));
  return found
    .filter(({ count }) => count >= least)
    .sort((a, b) => a.isOld - b.isOld || b.count - a.count || b.score - a.score)
    .map(({ entry }) => entry);
}

/** Pages of found entries, by path. */
const loaded = new Map();

/** Adds the text of the entry's section that has most of the words. */
async function showLine(item, words) {
  const { pathname, hash } = item.querySelector("a");
  try {
    if (!loaded.has(pathname)) loaded.set(pathname, readPage(pathname));
    const page = await loaded.get(pathname);
    item.append(...lineWith(words, textsOf(page, decodeURIComponent(hash.slice(1)))));
  } catch {
    // The entry is useful without it.
    loaded.delete(pathname);
  }
}

async function readPage(path) {
  const response = await fetch(path);
  return new DOMParser().parseFromString(await response.text(), "text/html");
}

/** Returns the texts of the section with this id, or of the whole page. */
function textsOf(page, id) {
  const first = page.getElementById(id) ?? page.querySelector("#content");
  const parts = [first];
  if (first.matches(HEADINGS)) {
    let next = first.nextElementSibling;
    for (; next?.matches(HEADINGS) === false; next = next.nextElementSibling) parts.push(next);
  }
  return parts
    .flatMap((part) => [part, ...part.querySelectorAll(BLOCKS)])
    .filter((part) => part.matches(BLOCKS) && !part.querySelector(BLOCKS))
    .map((part) => textOf(part).replace(/\s+/g, " ").trim())
    .filter((text) => text !== "");
}

/** Returns the text of a block. Nothing separates the cells of a row in its `textContent`. */
function textOf(part) {
  return part.matches("tr")
    ? Array.from(part.cells, ({ textContent }) => textContent).join(" ")
    : part.textContent;
}

/**
 * Returns the part of the best text around a word, which is marked. If only the title or the page
 * has the words, returns the beginning of the first text.
 */
function lineWith(words, texts) {
  const patterns = words.map((word) => new RegExp(`(?<!\\w)${stemOf(word)}\\w*`, "i"));
  const matches = (text) => patterns.filter((pattern) => pattern.test(text));
  const [text = ""] = texts.toSorted((a, b) => matches(b).length - matches(a).length);
  if (text === "") return [];
  const { 0: match, index } = matches(text)[0]?.exec(text) ?? { 0: "", index: 0 };
  const from = index <= BESIDE ? 0 : text.lastIndexOf(" ", index - BESIDE) + 1;
  const to = text.indexOf(" ", index + match.length + BESIDE);
  const line = element("small", `${from > 0 ? "… " : ""}${text.slice(from, index)}`);
  if (match !== "") line.append(element("mark", match));
  line.append(text.slice(index + match.length, to < 0 ? undefined : to), to < 0 ? "" : " …");
  return [line];
}

function countText(found) {
  return found > MAX_FOUND ? `${found} found; the best ${MAX_FOUND} are below` : `${found} found`;
}

/** Returns the part that all usual forms of the word have, as a regular expression. */
function stemOf(word) {
  return word.replace(/(?<=\w{3})(?:ing|ed|e?s|e)$/, "").replace(/[^\w\s]/g, "\\$&");
}

/**
 * Reduces the flag and the variable of a setting to its name, and a path to its last part with the
 * parameters after it, such as `flares/{id}`.
 */
function nameOf(text) {
  return text
    .toLowerCase()
    .replace(/^(?:flarewire_|--(?:no-)?|(?:[a-z]+ )?\/(?:.*\/)?(?!\{))/, "")
    .replace(/[-_]/g, "");
}

/** Returns a function that ranks an entry for a typed word, in any of its usual forms. */
function rankWord(word) {
  const whole = new RegExp(`(?<!\\w)${stemOf(word)}(?:ing|ed|e?s|e)?(?!\\w)`, "i");
  const name = nameOf(word);
  const isOption = /^(?:--|flarewire_)/.test(word);
  const lists = (words) =>
    words
      .toLowerCase()
      .split(/[\s,]+/)
      .includes(word);
  return ([title, page, href, words]) => {
    const isNamed = nameOf(title) === name || wordsOf(title).join() === word;
    // Sections of other guides name options too, but the settings describe them.
    if (isOption && page === "Settings" && lists(words)) return isNamed ? 8 : 7;
    if (isNamed) return page === "API" || whole.test(words) ? 6 : 5;
    if (whole.test(title)) return 4;
    if (whole.test(`${page} ${words}`)) return 3;
    if (title.toLowerCase().includes(word)) return 2;
    return [page, href, words].join(" ").toLowerCase().includes(word) ? 1 : 0;
  };
}

function sum(numbers) {
  return numbers.reduce((total, one) => total + one, 0);
}
