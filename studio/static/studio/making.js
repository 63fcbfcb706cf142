// Making a capability: phrases as chips, an id from the name, the paths of a folder. Without it every field is a plain one.
(() => {
  const form = document.querySelector("[data-making]");
  if (!form) return;

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
    area.hidden = true;

    function show() {
      for (const chip of box.querySelectorAll(".chip")) chip.remove();
      for (const line of linesOf(area)) {
        const chip = document.createElement("span");
        chip.className = "chip";
        const away = document.createElement("button");
        away.type = "button";
        away.textContent = "×";
        away.setAttribute("aria-label", `Remove ${line}`);
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
      kind.closest("li").querySelector(".making-choices").classList.toggle("is-off", kind.value !== "choice");
    }
  };
  choices(form);
  form.addEventListener("change", ({ target }) => target.matches("[data-kind]") && choices(form));
  document.body.addEventListener("htmx:afterSwap", () => choices(form));

  // A browser sends the names of a folder's files without their places in it.
  for (const folder of form.querySelectorAll("[data-paths]")) {
    folder.addEventListener("change", () => {
      const paths = [...folder.files].map((file) => file.webkitRelativePath || file.name);
      form.elements[folder.dataset.paths].value = paths.length ? JSON.stringify(paths) : "";
    });
  }
})();
