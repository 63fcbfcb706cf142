// The measures of `layout.py`, evaluated in the page: returns `[what, excerpt, element]` of each fault.
([columnMin, wordMax]) => {
  const found = [];
  const say = (what, node, text) => found.push([what, text.trim().slice(0, 60), node.outerHTML.slice(0, 120)]);
  const HIDDEN = ".visually-hidden, .skip, [inert], script, style, option, svg";
  // What is typed or drawn letter by letter on purpose.
  const CODE = ".cm-editor, pre, code.digest";
  const isShown = (one) =>
    one.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && !one.closest(`${HIDDEN}, ${CODE}`);
  const linesOf = (range) => [...range.getClientRects()].filter((box) => box.width > 0.5 && box.height > 1);
  const across = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left);
  const down = (a, b) => Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
  const html = (one) => one.outerHTML.slice(0, 80);

  // What is fixed, sticks, is a dialog or an open menu lies over the page on purpose: only parts of one layer are compared.
  const layers = new Map();
  function layerOf(one) {
    if (!one || one === document.body) return null;
    if (!layers.has(one)) {
      const isLayer = ["fixed", "sticky"].includes(getComputedStyle(one).position) || one.matches("dialog, [popover], .menu");
      layers.set(one, isLayer ? one : layerOf(one.parentElement));
    }
    return layers.get(one);
  }
  // Where an ancestor cuts off what it holds; null where none does.
  function clipOf(one) {
    for (let each = one; each && each !== document.body; each = each.parentElement) {
      if (getComputedStyle(each).overflowX !== "visible") return each.getBoundingClientRect();
    }
    return null;
  }
  const cut = (box, clip) =>
    clip
      ? {
          top: Math.max(box.top, clip.top),
          bottom: Math.min(box.bottom, clip.bottom),
          left: Math.max(box.left, clip.left),
          right: Math.min(box.right, clip.right),
        }
      : box;
  const blockOf = (one) => {
    let block = one;
    while (getComputedStyle(block).display.startsWith("inline") && block.parentElement) block = block.parentElement;
    return block;
  };
  // What a text must not leave sideways.
  const SURFACE = ".card, .banner, .toast, .dialog, .composer, .btn, .badge, td, th, dialog, fieldset, main";
  function findLeaving(owner, boxes) {
    const surface = owner.closest(SURFACE);
    if (!surface) return;
    for (let each = owner; each !== surface; each = each.parentElement) {
      if (getComputedStyle(each).overflowX !== "visible") return;
    }
    if (getComputedStyle(surface).overflowX !== "visible") return;
    const edge = surface.getBoundingClientRect();
    if (edge.width < 2) return;
    const by = Math.max(...boxes.map((box) => Math.max(box.right - edge.right, edge.left - box.left)));
    if (by > 2) say(`${Math.round(by)} px out of its ${surface.className || surface.tagName}`, owner, owner.textContent);
  }

  function findBroken(node, owner, range) {
    // Two columns of code beside one another are what they are.
    if (owner.closest(".sides-text")) return;
    for (const token of node.data.matchAll(/\S+/gu)) {
      // What is longer, such as an address, may be broken; so may a hyphen be a place to break.
      if (token[0].length > wordMax) continue;
      for (const word of token[0].matchAll(/[\p{L}\p{N}_.,]{2,}/gu)) {
        range.setStart(node, token.index + word.index);
        range.setEnd(node, token.index + word.index + word[0].length);
        const tops = new Set(linesOf(range).map((box) => Math.round(box.top)));
        if (tops.size > 1) say("a broken word", owner, word[0]);
      }
    }
  }

  // [owner, text, box, layer] of each line of text.
  const shown = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const owner = node.parentElement;
    if (!node.data.trim() || !owner || !isShown(owner)) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const boxes = linesOf(range);
    if (!boxes.length) continue;
    const tops = new Set(boxes.map((box) => Math.round(box.top)));
    const width = blockOf(owner).clientWidth;
    if (tops.size > 2 && width < columnMin) say(`a column of ${Math.round(width)} px`, owner, node.data);
    findBroken(node, owner, range);
    findLeaving(owner, boxes);
    const clip = clipOf(owner);
    for (const box of boxes) {
      if (!clip || box.left < clip.right - 1) shown.push([owner, node.data, cut(box, clip), layerOf(owner)]);
    }
  }
  shown.sort((a, b) => a[2].top - b[2].top);
  for (let at = 0; at < shown.length; at += 1) {
    const [one, text, a, layer] = shown[at];
    for (let next = at + 1; next < shown.length && shown[next][2].top < a.bottom - 3; next += 1) {
      const [other, , b, otherLayer] = shown[next];
      if (one === other || layer !== otherLayer || one.contains(other) || other.contains(one)) continue;
      if (across(a, b) > 3 && down(a, b) > 4) say("a text over another one", one, `${text} / ${shown[next][1]}`);
    }
  }

  for (const area of document.querySelectorAll("textarea, input[type=text], input:not([type])")) {
    const width = isShown(area) ? area.clientWidth : 0;
    const least = area.matches("textarea") ? columnMin : columnMin / 2;
    if (width && width < least) say(`a field of ${width} px`, area, area.name);
  }

  const controls = [...document.querySelectorAll("a, button, input:not([type=hidden]), select, textarea, summary")]
    .filter((one) => one.checkVisibility() && !one.closest(".skip"))
    .map((one) => [one, one.getBoundingClientRect(), layerOf(one)])
    .filter(([, box]) => box.width > 1 && box.height > 1);
  // A link in a sentence has a box for each line.
  const doOverlap = (one, other) =>
    [...one.getClientRects()].some((a) => [...other.getClientRects()].some((b) => across(a, b) > 2 && down(a, b) > 2));
  for (const [at, [one, a, layer]] of controls.entries()) {
    for (const [other, b, otherLayer] of controls.slice(at + 1)) {
      if (layer !== otherLayer || one.contains(other) || other.contains(one)) continue;
      const isNear = across(a, b) > 2 && down(a, b) > 2;
      if (isNear && doOverlap(one, other)) say("a control over another one", one, html(other));
      const areSideBySide = one.matches(".btn") && other.matches(".btn") && one.parentElement === other.parentElement;
      const off = Math.abs(a.top + a.bottom - b.top - b.bottom) / 2;
      if (areSideBySide && down(a, b) > 2 && off > 2) say(`buttons ${off} px off level`, one, html(other));
    }
  }
  // What is read is read by scrolling the page, apart from what is wider than any page or has a height of its own.
  const SCROLLS = ".table-wrap, pre, .sides, textarea, .cm-editor, dialog, [popover], .sidebar, .docs__toc, .shell, .play, .thread, select";
  for (const one of document.querySelectorAll("main *")) {
    if (one.scrollHeight <= one.clientHeight + 1 || one.matches(SCROLLS) || one.closest(SCROLLS) || !isShown(one)) continue;
    if (["auto", "scroll"].includes(getComputedStyle(one).overflowY)) say("scrolls within the page", one, one.className);
  }
  for (const one of document.querySelectorAll(".table-wrap:has(> .table--cards)")) {
    const hidden = one.scrollWidth - one.clientWidth;
    if (isShown(one) && hidden > 1) say(`a table of which ${hidden} px are out of sight`, one, one.innerText);
  }
  for (const fault of document.querySelectorAll(".field__error, .error")) {
    if (!isShown(fault)) continue;
    const red = fault.appendChild(document.createElement("i"));
    red.style.color = "var(--danger-text)";
    const isRed = getComputedStyle(fault).color === getComputedStyle(red).color;
    red.remove();
    if (!isRed) say("an error that is not red", fault, fault.textContent);
  }
  for (const button of document.querySelectorAll(".btn")) {
    const range = document.createRange();
    range.selectNodeContents(button);
    if (!isShown(button) || !button.innerText?.trim()) continue;
    const texts = [...button.childNodes].filter((one) => one.nodeType === Node.TEXT_NODE && one.data.trim());
    for (const one of texts) {
      range.selectNodeContents(one);
      const lines = linesOf(range);
      if (!lines.length) continue;
      const box = button.getBoundingClientRect();
      const middle = (Math.min(...lines.map((line) => line.top)) + Math.max(...lines.map((line) => line.bottom))) / 2;
      const off = Math.abs(middle - (box.top + box.bottom) / 2);
      if (off > 3) say(`words ${Math.round(off)} px off the middle of their button`, button, one.data);
    }
  }
  return found;
}
