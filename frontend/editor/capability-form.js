// capability.json as a form: what it is, when it is used, what it needs.
import { chips, choice, group, lines, text, tick } from "./controls.js";
import { h } from "./dom.js";
import { isObject, JsonForm, listOf, orNothing } from "./json-form.js";
import { pointerOf } from "./json-text.js";
import { gettext, interpolate } from "./gettext.js";

const PROFILES = [
  ["capability", gettext("Capability: instructions with tools and forms")],
  ["playbook", gettext("Playbook: steps to solve a customer's problem")],
  ["runbook", gettext("Runbook: what to do about an alert")],
  ["agent_skill", gettext("Agent skill: free text")],
];
const SYSTEMS = [["common", gettext("Any")], ["darwin", "macOS"], ["win32", gettext("Windows")], ["linux", gettext("Linux")]];
const LEVELS = [
  ["builtin", gettext("None")], ["lightweight", gettext("Auto-installed package")],
  ["external", gettext("Manual install")], ["cloud_api", gettext("Account or API key")],
];
const NEEDS = [
  ["bins", gettext("Programs")], ["python", gettext("Python packages")], ["apps", gettext("Applications")],
  ["env", gettext("Environment variables (names only)")], ["permissions", gettext("System permissions")],
  ["mcp_servers", gettext("MCP servers")], ["skills", gettext("Other capabilities (IDs)")],
];
const SHOWN = ["$schema", "capability_id", "name", "description", "intent_triggers", "skill_profile", "utterances", "skill_groups",
  "os", "dependency_level", "dependencies", "priority", "max_turns", "playbook", "language", "emoji", "license", "compatibility",
  "allowed_tools", "metadata", "version"];

// More would be a list to search; their ids can be typed.
const GROUPS_OFFERED_MAX = 20;

export class CapabilityForm extends JsonForm {
  constructor(document, root, editor) {
    super(document, root, editor, "{}\n");
  }

  content(tree) {
    if (tree.type !== "object") return [h("p", { class: "banner banner--warning" }, gettext("capability.json must contain one object."))];
    const profile = this.get(["skill_profile"]) ?? "capability";
    return [
      this.what(profile), this.when(profile), profile === "playbook" ? this.playbook() : null,
      this.computer(), this.details(), this.others(),
    ].filter(Boolean);
  }

  plain(label, path, more = {}) {
    const value = this.get(path);
    return text(label, typeof value === "string" ? value : "", {
      at: path.join("."), help: this.help(path), writes: path, ...more,
      changed: (now) => this.write([path, more.required ? now : orNothing(now)]),
    });
  }

  phrases(label, path, more = {}) {
    return chips(label, listOf(this.get(path)), {
      at: path.join("."), writes: path, help: more.help ?? this.help(path), suggested: more.suggested, names: more.names, required: more.required, optional: more.optional,
      changed: (now, removed) => this.remove(removed, [path, more.required ? now : orNothing(now)]),
    });
  }

  help(path) {
    let schema = this.editor.facts().schemas["capability.json"];
    for (const step of path) schema = schema?.properties?.[step];
    return schema?.description ?? "";
  }

  // A section by its name in the outline.
  partAt(part) {
    return this.root.querySelector(`[data-part="${CSS.escape(part)}"]`);
  }

  section(part, title, help, ...children) {
    const made = group(title, help, ...children);
    made.dataset.part = part;
    return made;
  }

  what(profile) {
    return this.section("basics", gettext("Basics"), "",
      this.plain(gettext("Name"), ["name"], { required: true, most: 80 }),
      this.plain(gettext("Description"), ["description"], { required: true, most: 1024, rows: 3 }),
      choice(gettext("Kind"), profile, PROFILES, {
        at: "skill_profile", writes: ["skill_profile"], help: gettext("Decides which sections are required."),
        changed: (now) => this.redraw(
          [["skill_profile"], now],
          ...(now === "playbook" && !isObject(this.get(["playbook"]))
            ? [[["playbook"], { problem: this.get(["description"]) ?? "", conditions: [], keywords: [] }]] : []),
        ),
      }));
  }

  when(profile) {
    const { skillGroups: groups, suggestedTriggers } = this.editor.facts();
    return this.section("matching", gettext("Matching"), gettext("Agents match user messages against these."),
      this.phrases(gettext("Trigger phrases"), ["intent_triggers"], {
        required: profile === "capability", suggested: suggestedTriggers,
      }),
      h("div", { class: "two-fields" },
        this.sentences(gettext("Example messages that match"), "should_match"),
        this.sentences(gettext("Example messages that don't match"), "should_not_match")),
      this.phrases(gettext("Skill groups"), ["skill_groups"], {
        help: gettext("Agents can list and load one group alone. Choose groups, or type the ID of a new one."),
        optional: true, names: groups, suggested: Object.keys(groups).slice(0, GROUPS_OFFERED_MAX),
      }));
  }

  sentences(label, key) {
    const path = ["utterances", key];
    return lines(label, listOf(this.get(path)), {
      at: path.join("."), writes: path, rows: 4, optional: true, help: gettext("One per line. 10+ examples improve matching noticeably."),
      changed: (now) => this.write([path, now]),
    });
  }

  playbook() {
    const path = (key) => ["playbook", key];
    return this.section("problem", gettext("Problem and conditions"), "",
      this.plain(gettext("Problem"), path("problem"), { required: true, rows: 3 }),
      lines(gettext("Conditions"), listOf(this.get(path("conditions"))), {
        at: "playbook.conditions", writes: path("conditions"), help: gettext("One per line."), changed: (now) => this.write([path("conditions"), now]),
      }),
      this.phrases(gettext("Keywords"), path("keywords"), { required: true }),
      h("div", { class: "two-fields" }, this.plain(gettext("Product area"), path("product_area"), { optional: true }), this.plain(gettext("Issue type"), path("issue_type"), { optional: true })));
  }

  // What runs on somebody's computer needs; a person at a desk has none of it.
  computer() {
    const isNeeded = ["os", "dependency_level", "dependencies"].some((key) => this.get([key]) !== undefined);
    return h("details", { class: "form-group", "data-at": "computer", "data-part": "computer", open: isNeeded },
      h("summary", {}, gettext("Runs on a computer")), this.systems(), this.needs());
  }

  systems() {
    const given = this.get(["os"]);
    const os = Array.isArray(given) ? given : ["common"];
    const ticks = SYSTEMS.map(([key, words]) => tick(words, os.includes(key), {
      at: `os.${key}`,
      changed: (on) => this.redraw([["os"], orNothing(SYSTEMS.map(([one]) => one).filter((one) => (one === key ? on : os.includes(one))))]),
    }));
    return h("fieldset", { class: "ticks", "data-field": "/os" }, h("legend", { class: "field__label" }, gettext("Operating systems")), ticks);
  }

  needs() {
    const level = this.get(["dependency_level"]) ?? "builtin";
    const levels = isObject(level)
      ? h("p", { class: "field__hint" }, gettext("The setup differs by operating system. Edit it in code."))
      : choice(gettext("Setup required"), level, LEVELS, { at: "dependency_level", writes: ["dependency_level"], changed: (now) => this.write([["dependency_level"], now]) });
    return h("div", {}, levels, h("p", { class: "field__hint" }, gettext("Names only. Never enter secrets.")),
      h("div", { class: "two-fields" }, NEEDS.map(([key, words]) => this.phrases(words, ["dependencies", key]))));
  }

  details() {
    const number = (label, key) => text(label, this.get([key]) ?? "", {
      at: key, writes: [key], type: "number", min: 0, step: 1, help: this.help([key]),
      changed: (now) => this.write([[key], now === "" || !Number.isSafeInteger(Number(now)) ? undefined : Number(now)]),
    });
    const allowed = this.get(["allowed_tools"]);
    return h("details", { class: "form-group", "data-at": "details" }, h("summary", {}, gettext("Advanced")),
      h("div", { class: "two-fields" },
        number(gettext("Priority"), "priority"), number(gettext("Active turns"), "max_turns"),
        this.plain(gettext("Emoji"), ["emoji"]), this.plain(gettext("License"), ["license"])),
      this.plain(gettext("Language"), ["language"], { most: 35 }),
      this.plain(gettext("Compatibility"), ["compatibility"], { most: 500, rows: 2 }),
      Array.isArray(allowed) ? this.phrases(gettext("Allowed agent tools"), ["allowed_tools"])
        : this.plain(gettext("Allowed agent tools"), ["allowed_tools"]),
      this.metadata());
  }

  metadata() {
    const facts = isObject(this.get(["metadata"])) ? this.get(["metadata"]) : {};
    const rows = Object.entries(facts).map(([key, value]) => h("li", { class: "fact-row" },
      h("code", {}, key),
      typeof value === "string"
        ? h("input", { type: "text", class: "input", value, "aria-label": interpolate(gettext("Value of %(name)s"), { name: key }, true), "data-at": `metadata.${key}`, "data-field": pointerOf(["metadata", key]), oninput: (event) => this.write([["metadata", key], event.target.value]) })
        : h("span", { class: "muted" }, gettext("Not text; edit it in code")),
      h("button", { type: "button", class: "btn btn--sm", "aria-label": interpolate(gettext("Remove %(name)s"), { name: key }, true), onclick: () => this.remove(interpolate(gettext("%(name)s removed"), { name: key }, true), [["metadata", key], undefined]) }, gettext("Remove"))));
    const made = text(gettext("Add metadata"), "", {
      at: "metadata-new", help: gettext("Key name"), onleave: true,
      changed: (name) => name.trim() && !(name.trim() in facts) && this.arrange([["metadata", name.trim()], ""]),
    });
    return h("div", {}, rows.length ? h("ul", { class: "plain-list" }, rows) : null, made);
  }

  others() {
    const unknown = this.tree.members.map((member) => member.key).filter((key) => !SHOWN.includes(key));
    if (!unknown.length) return null;
    return h("p", { class: "field__hint" }, gettext("Not editable here:"), " ", unknown.map((key) => h("code", {}, `${key} `)));
  }
}
