/**
 * Returns every number that is not fully visible: broken over two lines, outside its cell or the
 * window, or cut off by an element. Names, addresses and warnings are not numbers.
 */
export const CUT_NUMBERS = `(() => {
  const cut = [];
  const texts = document.createTreeWalker(document.querySelector("#app") ?? document.body, NodeFilter.SHOW_TEXT);
  let numbers = 0;
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    const around = text.parentElement;
    if (!around.checkVisibility() || around.closest(".untrusted, .warned, .unseen, option, .address")) continue;
    for (const { index, 0: number } of text.data.matchAll(/[$+−±]?\\d[\\d.,₀-₉]*[A-Za-z]?/g)) {
      numbers += 1;
      const range = new Range();
      range.setStart(text, index);
      range.setEnd(text, index + number.length);
      const rects = range.getClientRects();
      const { left, right, top, bottom } = range.getBoundingClientRect();
      const fits = (box) => left >= box.left - 0.5 && right <= box.right + 0.5;
      if (rects.length !== 1) cut.push(number + " is on " + rects.length + " lines");
      if (left < 0 || right > document.documentElement.clientWidth) cut.push(number + " is off the screen");
      const cell = around.closest("td, th, li > *, dd, dt");
      if (cell && !fits(cell.getBoundingClientRect())) cut.push(number + " leaves its cell");
      for (let box = around; box; box = box.parentElement) {
        const bounds = box.getBoundingClientRect();
        const { overflow, contentVisibility } = getComputedStyle(box);
        const clips = (overflow !== "visible" || contentVisibility === "auto") && box !== document.body;
        if (clips && !(fits(bounds) && top >= bounds.top - 0.5 && bottom <= bounds.bottom + 0.5))
          cut.push(number + " is cut off by ." + box.className);
      }
    }
  }
  return { numbers, cut, wide: document.documentElement.scrollWidth - document.documentElement.clientWidth };
})()`;
