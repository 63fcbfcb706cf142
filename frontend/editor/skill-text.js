// skill.md as stretches of its text: the title, the sections with their headings, and where a missing one belongs.

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const ATX = /^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$/;

// Where the front matter ends; 0 without one.
export const frontMatterEnd = (text) => /^---[ \t]*\n[\s\S]*?\n---[ \t]*(?:\n|$)/.exec(text)?.[0].length ?? 0;

function linesOf(text) {
  const lines = [];
  let start = 0;
  for (const row of text.split("\n")) {
    lines.push({ start, end: start + row.length, row });
    start += row.length + 1;
  }
  return lines;
}

function bodyLine(lines) {
  if (lines[0]?.row.trimEnd() !== "---") return 0;
  const end = lines.findIndex((line, at) => at > 0 && line.row.trimEnd() === "---");
  return end < 0 ? 0 : end + 1;
}

// [{level, title, start, titleStart, titleEnd, bodyStart}] outside of fences and HTML comments.
function headingsOf(lines, from) {
  const found = [];
  let fence = null;
  let inComment = false;
  for (let at = from; at < lines.length; at += 1) {
    const { row, start, end } = lines[at];
    const opened = FENCE.exec(row);
    if (fence) {
      if (opened && opened[1].startsWith(fence) && !row.trim().replaceAll(fence[0], "")) fence = null;
      continue;
    }
    if (inComment) {
      if (row.includes("-->")) inComment = false;
      continue;
    }
    if (/^ {0,3}<!--/.test(row)) {
      inComment = !row.includes("-->");
      continue;
    }
    if (opened) {
      fence = opened[1];
      continue;
    }
    const atx = ATX.exec(row);
    if (atx) {
      const title = atx[2] ?? "";
      const titleStart = title ? start + row.indexOf(title, row.indexOf("#") + atx[1].length) : end;
      found.push({ level: atx[1].length, title, start, titleStart, titleEnd: titleStart + title.length, bodyStart: Math.min(end + 1, endOf(lines)) });
      continue;
    }
    const under = /^ {0,3}(=+|-+)[ \t]*$/.exec(lines[at + 1]?.row ?? "");
    const isPlain = row.trim() && !/^\s*(?:[-*+>|]|\d+[.)])/.test(row) && !(lines[at - 1]?.row ?? "").trim();
    if (under && isPlain) {
      found.push({
        level: under[1][0] === "=" ? 1 : 2, title: row.trim(), start, titleStart: start, titleEnd: end,
        bodyStart: Math.min(lines[at + 1].end + 1, endOf(lines)),
      });
      at += 1;
    }
  }
  return found;
}

const endOf = (lines) => lines.at(-1).end;

// The stretch without the blank lines around it.
function trimmed(text, from, to) {
  const body = text.slice(from, to);
  const lead = /^\s*\n|^\s+$/.exec(body)?.[0].length ?? 0;
  const rest = body.slice(lead).trimEnd();
  // Nothing there yet: behind the heading itself, so that what is written does not run into the next one.
  if (!rest && text[from - 1] === "\n") return { from: from - 1, to: from - 1 };
  return { from: from + lead, to: from + lead + rest.length };
}

// {title, intro, sections: [{heading, title, body, start, end}]}; stretches are {from, to}.
export function outline(text) {
  const lines = linesOf(text);
  const first = bodyLine(lines);
  const headings = headingsOf(lines, first);
  const top = headings.find((one) => one.level === 1);
  const seconds = headings.filter((one) => one.level === 2);
  const introStart = top ? top.bodyStart : lines[first]?.start ?? text.length;
  const introEnd = seconds.find((one) => one.start >= introStart)?.start ?? text.length;
  const sections = seconds.map((heading) => {
    const next = headings.find((one) => one.start > heading.start && one.level <= 2);
    const end = next?.start ?? text.length;
    return {
      title: heading.title, heading: { from: heading.titleStart, to: heading.titleEnd },
      body: trimmed(text, heading.bodyStart, end), start: heading.start, end,
    };
  });
  return {
    title: top && { from: top.titleStart, to: top.titleEnd, text: top.title },
    intro: trimmed(text, introStart, introEnd), sections,
  };
}

export const isNamed = (title, section) =>
  [section.name, ...section.also].some((name) => name.toLowerCase() === title.trim().toLowerCase());

// Where a missing section belongs: before the first one that comes after it in the profile's order, else at the end.
export function placeFor(found, required, section, length) {
  const later = required.slice(required.indexOf(section) + 1);
  const next = found.sections.find((one) => later.some((each) => isNamed(one.title, each)));
  return next ? next.start : length;
}

export function sectionText(text, at, name, body) {
  const before = at === 0 || text.slice(0, at).endsWith("\n\n") ? "" : text.slice(0, at).endsWith("\n") ? "\n" : "\n\n";
  return `${before}## ${name}\n\n${body}\n${at < text.length ? "\n" : ""}`;
}
