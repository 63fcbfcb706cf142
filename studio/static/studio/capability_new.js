// Making a capability: phrases as chips, an id from the name, the paths of a folder. Without it every field is a plain one.
(() => {
  const form = document.querySelector("[data-creation]");
  if (!form) return;

  // A browser asks before it leaves words behind; a form that is sent leaves none.
  const typed = () => [...new FormData(form).entries()].map(([key, value]) => `${key}=${value.name ?? value}`).join("\n");
  let begun = "";
  const guard = (event) => typed() !== begun && event.preventDefault();
  form.addEventListener("submit", () => removeEventListener("beforeunload", guard));
  addEventListener("beforeunload", guard);

  const announce = (field) => field.dispatchEvent(new Event("input", { bubbles: true }));
  const linesOf = (area) => area.value.split("\n").map((line) => line.trim()).filter(Boolean);

  // The text area stays what is sent; the chips show its lines.
  function chips(area) {
    const box = document.createElement("div");
    box.className = "chips";
    const entry = document.createElement("input");
    entry.id = `${area.id}_entry`;
    entry.autocomplete = "off";
    entry.maxLength = 80;
    entry.setAttribute("aria-describedby", area.getAttribute("aria-describedby") ?? "");
    const label = form.querySelector(`label[for="${area.id}"]`);
    label.htmlFor = entry.id;
    // Who types before this script has come types on: the line that is being written is not finished yet.
    const isWriting = document.activeElement === area;
    if (isWriting) {
      const lines = area.value.split("\n");
      entry.value = lines.pop();
      area.value = lines.join("\n");
    }
    area.hidden = true;

    function show() {
      for (const chip of box.querySelectorAll(".chip")) chip.remove();
      for (const line of linesOf(area)) {
        const chip = document.createElement("span");
        chip.className = "chip";
        const away = document.createElement("button");
        away.type = "button";
        away.textContent = "×";
        away.setAttribute("aria-label", interpolate(gettext("Remove %(name)s"), { name: line }, true));
        away.addEventListener("click", () => {
          put(linesOf(area).filter((one) => one !== line));
          entry.focus();
        });
        chip.append(line, away);
        entry.before(chip);
      }
    }

    function put(lines) {
      area.value = [...new Set(lines)].join("\n");
      show();
      announce(area);
    }

    const take = () => {
      const typed = entry.value.split(/[\n,;]/).map((one) => one.trim()).filter(Boolean);
      entry.value = "";
      if (typed.length) put([...linesOf(area), ...typed]);
    };
    entry.addEventListener("keydown", (event) => {
      if ((event.key === "Enter" || event.key === ",") && !event.isComposing && entry.value.trim()) {
        event.preventDefault();
        take();
      } else if (event.key === "Backspace" && !entry.value && area.value) put(linesOf(area).slice(0, -1));
    });
    entry.addEventListener("blur", take);
    entry.addEventListener("paste", () => setTimeout(() => /[\n,;]/.test(entry.value) && take()));
    form.addEventListener("submit", take);
    form.addEventListener("click", ({ target }) => {
      if (target.dataset.addTrigger) put([...linesOf(area), target.dataset.addTrigger]);
    });
    box.append(entry);
    area.after(box);
    show();
    if (isWriting) entry.focus();
  }
  for (const area of form.querySelectorAll("[data-chips]")) chips(area);

  // The id follows the name until somebody writes it.
  const [name, id] = [form.querySelector("[name=name]"), form.querySelector("[name=capability_id]")];
  if (name && id) {
    const made = () => name.value.toLowerCase().match(/[a-z0-9]+/g)?.join("_").slice(0, 64).replace(/_$/, "") ?? "";
    let follows = id.value === "" || id.value === made();
    id.addEventListener("input", () => {
      follows = id.value === "";
    });
    name.addEventListener("input", () => {
      if (follows) id.value = made();
    });
  }

  // What there is to choose from belongs to a choice alone.
  const choices = (within) => {
    for (const kind of within.querySelectorAll("[data-kind]")) {
      kind.closest("li").querySelector(".creation-choices").classList.toggle("is-off", kind.value !== "choice");
    }
  };
  choices(form);
  form.addEventListener("change", ({ target }) => target.matches("[data-kind]") && choices(form));
  document.body.addEventListener("htmx:afterSwap", () => choices(form));

  // Who types on while the answer with the new rows is on its way keeps the words, and the place of the caret.
  const tools = form.querySelector("#tools");
  if (tools) {
    const isTicked = (field) => field.type === "checkbox";
    const state = () => new Map(
      [...tools.querySelectorAll("input, select")].map((field) => [field.id, isTicked(field) ? field.checked : field.value]),
    );
    // The rows behind one that was removed move up, and their fields with them.
    const moved = (id, step) => {
      const [, tool, argument] = /^drop-(?:tool|arg)-(\d+)(?:-(\d+))?$/.exec(step) ?? [];
      if (tool === undefined) return id;
      const start = argument === undefined ? "tool-" : `tool-${tool}-arg-`;
      const gone = Number(argument ?? tool);
      const [, place, rest] = id.startsWith(start) ? /^(\d+)(-.*)$/.exec(id.slice(start.length)) ?? [] : [];
      if (place === undefined || Number(place) < gone) return id;
      return Number(place) === gone ? null : `${start}${place - 1}${rest}`;
    };
    let sent = new Map();
    let step = "";
    let put = () => {};
    const ofTools = (handle) => ({ detail }) => detail.target === tools && handle(detail);
    document.body.addEventListener("htmx:configRequest", ofTools((detail) => {
      [sent, step] = [state(), detail.elt.value];
    }));
    document.body.addEventListener("htmx:beforeSwap", ofTools(() => {
      const typed = [...state()].filter(([id, value]) => sent.get(id) !== value);
      const here = document.activeElement;
      const caret = here.matches("input[type=text], input:not([type])") ? [here.selectionStart, here.selectionEnd] : null;
      const isWriting = form.contains(here) && here.matches("input, select, textarea");
      const back = isWriting && (tools.contains(here) ? moved(here.id, step) : here.id);
      put = (isSettled) => {
        for (const [id, value] of isSettled ? [] : typed) {
          const field = document.getElementById(moved(id, step));
          if (field) field[isTicked(field) ? "checked" : "value"] = value;
        }
        const field = back && document.getElementById(back);
        if (!field || (isSettled && document.activeElement === field)) return;
        field.focus();
        // A value that is put back takes the caret to its end, in a field that htmx has focused already, too.
        if (caret) field.setSelectionRange(...caret);
      };
    }));
    document.body.addEventListener("htmx:afterSwap", ofTools(() => put(false)));
    document.body.addEventListener("htmx:afterSettle", ofTools(() => put(true)));
  }

  // A browser sends the names of a folder's files without their places in it.
  const keepPaths = (folder, paths) => {
    form.elements[folder.dataset.paths].value = paths.length ? JSON.stringify(paths) : "";
  };
  for (const folder of form.querySelectorAll("[data-paths]")) {
    folder.addEventListener("change", () => keepPaths(folder, [...folder.files].map((file) => file.webkitRelativePath || file.name)));
  }

  // The files below an entry that was dropped, as [path, file].
  const FILES_MAX = 500;
  async function filesBelow(entry, path = entry.name) {
    if (entry.isFile) return [[path, await new Promise((resolve, reject) => entry.file(resolve, reject))]];
    const reader = entry.createReader();
    const found = [];
    // A browser answers a folder in portions, and with none at its end.
    for (;;) {
      const portion = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
      if (!portion.length || found.length > FILES_MAX) return found;
      for (const below of portion) found.push(...await filesBelow(below, `${path}/${below.name}`));
    }
  }

  const setFiles = (field, files) => {
    const given = new DataTransfer();
    for (const file of files) given.items.add(file);
    field.files = given.files;
  };

  function dropZone(zone) {
    const [archive, folder] = zone.querySelectorAll("input[type=file]");
    const chosen = zone.querySelector(".dropzone__chosen");
    zone.querySelector(".dropzone__words").hidden = false;

    // What came last is what is imported.
    function show(field) {
      const other = field === archive ? folder : archive;
      if (field.files.length) setFiles(other, []);
      if (field === archive) keepPaths(folder, []);
      const count = field.files.length;
      const name = field === archive ? field.files[0]?.name : JSON.parse(form.elements.paths.value || '[""]')[0].split("/")[0];
      const words = count > 1 ? interpolate(gettext("%(name)s (%(count)s files)"), { name, count }, true) : name;
      chosen.textContent = count ? words : "";
    }

    // `entry` is where the browser knows what is a folder.
    async function take(entry, file) {
      const isFolder = Boolean(entry?.isDirectory);
      const files = isFolder ? await filesBelow(entry) : [["", file]];
      setFiles(isFolder ? folder : archive, files.map(([, file]) => file));
      if (isFolder) keepPaths(folder, files.map(([path]) => path));
      show(isFolder ? folder : archive);
    }

    for (const field of [archive, folder]) field.addEventListener("change", () => show(field));
    for (const kind of ["dragenter", "dragover", "dragleave", "drop"]) {
      zone.addEventListener(kind, (event) => {
        event.preventDefault();
        zone.classList.toggle("is-over", kind === "dragenter" || kind === "dragover");
      });
    }
    zone.addEventListener("drop", ({ dataTransfer }) => {
      if (dataTransfer.files.length) take(dataTransfer.items[0].webkitGetAsEntry(), dataTransfer.files[0]).catch(() => {
        chosen.textContent = gettext("This can't be read. Select it instead.");
      });
    });
  }
  form.querySelectorAll("[data-drop-zone]").forEach(dropZone);

  // What came back with faults is stored nowhere yet, however little was changed since.
  if (!form.querySelector(".creation-faults, .field__error")) begun = typed();
})();
