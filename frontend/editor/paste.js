// Text that is copied in Word, a mail or a web page, as Markdown: headings, lists, tables, links, bold, italic and code. What
// has none of these is pasted as plain text, as ever; so is code, whose colors are all that its HTML says.
const HTML_MAX = 4_000_000;
const DEPTH_MAX = 60;
const HEADINGS = ["h1", "h2", "h3", "h4", "h5", "h6"].join();
const STRUCTURE = [HEADINGS, "li", "tr", "a[href]", "b", "strong", "i", "em", "blockquote", "[data-style*=mso-list]", "[data-style*=font-weight]"].join();
const SKIPPED = ["head", "style", "script", "title", "meta", "link", "template", "noscript", "svg", "iframe", "object", "input", "button", "select", "textarea"].join();
const BLOCKS = ["address", "article", "aside", "blockquote", "body", "dd", "div", "dl", "dt", "figure", "figcaption", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav", "ol", "p", "pre", "section", "table", "ul"].join();
const WORD_LIST = /mso-list:\s*l\d+\s+level(\d+)/i;
const TAG = /<[a-z](?:"[^"]*"|'[^']*'|[^'">])*>/gi;
const HIDDEN = /display:\s*none|mso-hide:\s*all/i;

// The Markdown of an HTML text; empty where it has no structure. Headings begin at `top`, 1 to 6.
export function markdownOf(html, { top = 1 } = {}) {
  if (html.length > HTML_MAX) return "";
  // The content policy refuses styles, also of a page that is only read.
  const readable = html.replace(/<style\b[\s\S]*?(?:<\/style\s*>|$)/gi, "").replace(TAG, (tag) => tag.replace(/\sstyle\s*=/gi, " data-style="));
  const { body } = new DOMParser().parseFromString(readable, "text/html");
  if (!body.querySelector(STRUCTURE) || isCode(body)) return "";
  const levels = [...body.querySelectorAll(HEADINGS)].map((one) => Number(one.localName[1]));
  const shift = Math.max(0, top - Math.min(...levels));
  const made = blocksOf(body, { shift: Number.isFinite(shift) ? shift : 0, depth: 0 });
  return made.join("\n\n").replace(/\n{3,}/g, "\n\n").trim();
}

// What an editor of code has copied: one box in a typeface of fixed width.
function isCode(body) {
  const boxes = [...body.children].filter((one) => !one.matches(SKIPPED));
  return boxes.length === 1 && (boxes[0].localName === "pre" || /font-family:[^;]*mono/i.test(styleOf(boxes[0])));
}

const styleOf = (node) => node?.dataset?.style ?? "";
const isSkipped = (node) => node.nodeType === Node.ELEMENT_NODE && (node.matches(SKIPPED) || HIDDEN.test(styleOf(node)) || /mso-list:\s*ignore/i.test(styleOf(node)));
const squeezed = (text) => text.replace(/[\u200b\u2060\ufeff]/g, "").replace(/[\s\u00a0]+/g, " ");

// The blocks of an element, each without the blank lines around it.
function blocksOf(element, place) {
  if (place.depth > DEPTH_MAX) return [squeezed(element.textContent).trim()].filter(Boolean);
  const made = [];
  let run = [];
  const flush = () => {
    const words = paragraph(inline(run, place));
    if (words) made.push(words);
    run = [];
  };
  const inner = { ...place, depth: place.depth + 1 };
  const children = [...element.childNodes].filter((node) => !isSkipped(node));
  for (let at = 0; at < children.length; at += 1) {
    const node = children[at];
    const isBlock = node.nodeType === Node.ELEMENT_NODE && (node.matches(BLOCKS) || node.querySelector(BLOCKS));
    if (!isBlock) {
      run.push(node);
      continue;
    }
    flush();
    if (WORD_LIST.test(styleOf(node))) {
      const from = at;
      while (WORD_LIST.test(styleOf(children[at + 1])) || isBlank(children[at + 1])) at += 1;
      made.push(wordList(children.slice(from, at + 1).filter((one) => WORD_LIST.test(styleOf(one))), inner));
    } else made.push(...block(node, inner));
  }
  flush();
  return made.filter(Boolean);
}

const isBlank = (node) => node?.nodeType === Node.TEXT_NODE && !node.data.trim();

function block(node, place) {
  const name = node.localName;
  if (/^h[1-6]$/.test(name)) {
    const words = inline([...node.childNodes], { ...place, isPlain: true }).replaceAll("\n", " ").trim();
    return words ? [`${"#".repeat(Math.min(6, Number(name[1]) + place.shift))} ${words}`] : [];
  }
  if (name === "ul" || name === "ol") return [listOf(node, place)];
  if (name === "table") return tableOf(node, place);
  if (name === "hr") return ["---"];
  if (name === "pre") return [`\`\`\`\n${node.textContent.replace(/\n$/, "")}\n\`\`\``];
  const inner = blocksOf(node, place);
  return name === "blockquote" ? [inner.join("\n\n").replace(/^/gm, "> ").replace(/^> $/gm, ">")] : inner;
}

// What a paragraph begins with must not make another thing of it.
function paragraph(words) {
  const made = words.split("\n").map((row) => row.trim()).join("\n").trim();
  return made.replace(/^(#{1,6}\s)/gm, "\\$1");
}

function inline(nodes, place) {
  return nodes.filter((node) => !isSkipped(node)).map((node) => {
    if (node.nodeType === Node.TEXT_NODE) return squeezed(node.data);
    if (node.nodeType !== Node.ELEMENT_NODE) return "";
    if (node.localName === "br") return "\n";
    if (node.localName === "img") return squeezed(node.alt ?? "");
    if (place.depth > DEPTH_MAX) return squeezed(node.textContent);
    const inner = { ...place, depth: place.depth + 1 };
    const marks = place.isPlain ? [] : marksOf(node);
    return marks.reduce((words, mark) => mark(words), inline([...node.childNodes], inner));
  }).join("").replace(/ *\n */g, "\n");
}

// What an element does to its words, from the inside out. Google Docs wraps everything in a `b` that is not bold.
function marksOf(node) {
  const [name, style] = [node.localName, styleOf(node)];
  const weight = /font-weight:\s*(\w+)/i.exec(style)?.[1].toLowerCase();
  const isBold = weight ? weight === "bold" || Number(weight) >= 600 : name === "b" || name === "strong";
  const isItalic = /font-style:\s*italic/i.test(style) || ((name === "i" || name === "em") && !/font-style:\s*normal/i.test(style));
  const address = name === "a" ? node.getAttribute("href") ?? "" : "";
  return [
    ["code", "tt", "kbd", "samp"].includes(name) ? around("`") : null,
    isItalic ? around("*") : null,
    isBold ? around("**") : null,
    /^(https?:|mailto:)/i.test(address) ? (words) => linked(words, address) : null,
  ].filter(Boolean);
}

// Marks stand at the words, not at the spaces beside them; words in marks already are not marked twice.
const around = (mark) => (words) => {
  const [, before, inner, after] = /^(\s*)([\s\S]*?)(\s*)$/.exec(words);
  if (!inner || inner.includes("\n\n") || (inner.startsWith(mark) && inner.endsWith(mark))) return words;
  return before + inner.split("\n").map((row) => (row.trim() ? `${mark}${row.trim()}${mark}` : row)).join("\n") + after;
};

function linked(words, address) {
  const inner = words.replaceAll("\n", " ").trim();
  const target = address.replace(/[\s()<>]/g, (letter) => encodeURIComponent(letter).replace("(", "%28").replace(")", "%29"));
  if (!inner) return words;
  return inner === address || `mailto:${inner}` === address ? inner : `[${inner}](${target})`;
}

const indented = (text, by) => text.replace(/\n(?=[^\n])/g, `\n${" ".repeat(by)}`);

function listOf(list, place) {
  let number = Number(list.getAttribute("start")) || 1;
  const rows = [];
  for (const node of list.children) {
    if (isSkipped(node)) continue;
    const inner = { ...place, depth: place.depth + 1 };
    // Some put a list right into a list.
    if (node.matches("ul, ol")) {
      const nested = listOf(node, inner);
      const by = list.localName === "ol" ? 3 : 2;
      if (nested) rows.push(`${" ".repeat(by)}${indented(nested, by)}`);
      continue;
    }
    const mark = list.localName === "ol" ? `${number}. ` : "- ";
    const words = blocksOf(node, inner).reduce((all, one) => (all ? `${all}${/^(?:- |\d+\. )/.test(one) ? "\n" : "\n\n"}${one}` : one), "");
    if (!words) continue;
    rows.push(mark + indented(words, mark.length));
    number += 1;
  }
  return rows.join("\n");
}

// Word's lists are paragraphs that say their level; the mark is in a part that says to ignore it.
function wordList(paragraphs, place) {
  const numbers = [];
  return paragraphs.map((one) => {
    const level = Math.min(9, Number(WORD_LIST.exec(styleOf(one))[1])) - 1;
    const shown = squeezed([...one.querySelectorAll("[data-style]")].find((part) => /mso-list:\s*ignore/i.test(styleOf(part)))?.textContent ?? "").trim();
    numbers.length = level + 1;
    numbers[level] = (numbers[level] ?? 0) + 1;
    // A letter alone is a bullet: Word draws some of them so in a typeface of symbols.
    const mark = /^\(?(?:\d+|[a-z]{1,4})[.)]/i.test(shown) ? `${numbers[level]}. ` : "- ";
    return "   ".repeat(level) + mark + indented(paragraph(inline([...one.childNodes], place)), 3 * level + mark.length);
  }).join("\n");
}

function tableOf(table, place) {
  const rows = [...table.rows].map((row) => [...row.cells].flatMap((cell) => {
    const words = blocksOf(cell, { ...place, depth: place.depth + 1 }).join(" ").replaceAll("\n", " ").replaceAll("|", "\\|");
    return [words, ...Array.from({ length: Math.min(20, cell.colSpan) - 1 }, () => "")];
  })).filter((row) => row.some(Boolean));
  const width = Math.max(0, ...rows.map((row) => row.length));
  // A frame around text, as pages and mails have it.
  if (width < 2) return [...table.rows].flatMap((row) => [...row.cells].flatMap((cell) => blocksOf(cell, { ...place, depth: place.depth + 1 })));
  const line = (row) => `| ${Array.from({ length: width }, (_, at) => row[at] ?? "").join(" | ")} |`;
  return [[line(rows[0]), line(Array(width).fill("---")), ...rows.slice(1).map(line)].join("\n")];
}

// With the blank lines that blocks need where they are put in between `before` and `after`.
export function fitted(before, markdown, after) {
  const isAlone = /(?:^|\n)$/.test(before) && /^(?:\n|$)/.test(after);
  const isBlock = isAlone || markdown.includes("\n") || /^(?:#{1,6} |- |\d+\. |> |\||```|---)/.test(markdown);
  if (!isBlock) return markdown;
  const missing = (there) => "\n".repeat(Math.max(0, 2 - there));
  const lead = before.trim() ? missing(/\n*$/.exec(before)[0].length) : "";
  const tail = after.trim() ? missing(/^\n*/.exec(after)[0].length) : "";
  return lead + markdown + tail;
}
