"""Every finding code outside of the UI_ and SEC_ families; docs/findings.md is made of these tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from registry.bundles.problem import FindingCode, Severity, index_by_code

FILES: Final = (
    FindingCode("FILE_MISSING", "error", "A bundle without capability.json or skill.md.", "a folder with tools.json alone", "Add the file that is named."),
    FindingCode("FILE_TOO_LARGE", "error", "A file over 1 MiB.", "a skill.md of 1.2 MiB", "Shorten it; agents load the whole text."),
    FindingCode("BUNDLE_TOO_LARGE", "error", "The files have more than 2 MiB together.", "three files of 0.9 MiB", "Shorten the texts, or split the capability."),
    FindingCode("FILE_UNKNOWN", "warning", "A file that is not one of the four, nor in `references/`, `scripts/` or `assets/`, nor named in `metadata.supporting_files`; it is left out.", "`Tools.json`, `notes.txt`", "Rename it, name it in `metadata.supporting_files` if agents need it, or ignore the warning."),
    FindingCode("FILE_NOT_TEXT", "warning", "A supporting file that is not text in UTF-8, such as an image; it is left out.", "`assets/logo.png`", "Ignore the warning, or save the file as UTF-8 where it is a text."),
    FindingCode("FILE_PATH_INVALID", "error", "A supporting file has, or `metadata.supporting_files` names, a path with a character other than ASCII letters, digits, `.`, `_`, `-`, space and `/`; that some file system refuses; that differs from another one in the case of letters alone; or that belongs to a file of the bundle, of an export or of a tool. Models read file names too, so that nothing in them may be invisible or look like something else.", "`references/a:b.md`, `references/Größe.md`, `references/CON.md`, `references/tools.json`, `../notes.md`, `SKILL.md`", "Rename the file, or take its line out."),
    FindingCode("FILE_NAMED_MISSING", "warning", "A line of `metadata.supporting_files` in capability.json names a file that is not there: an agent would look for it in vain.", '`{"supporting_files": "forms.md"}` without forms.md', "Add the file, or take the line out."),
    FindingCode("FILES_TOO_MANY", "error", "More than 100 supporting files.", "a folder of a thousand pages", "Join some of them, or leave some out."),
    FindingCode("TEXT_NOT_UTF8", "error", "Bytes that are not UTF-8, or half of a surrogate pair.", "a file saved as Latin-1 or UTF-16", "Save the file as UTF-8."),
    FindingCode("TEXT_NUL", "error", "The character NUL, plain or as `\\u0000`.", '`"name": "a\\u0000b"`', "Remove the character."),
)  # fmt: skip
JSON: Final = (
    FindingCode("JSON_INVALID", "error", "The text is not JSON. NaN, Infinity, comments and trailing commas are not either.", '`{"name": "a",}`', "Correct the place that is named; the mistake is often just before it."),
    FindingCode("JSON_DUPLICATE_KEY", "error", "One key appears twice in an object. Readers disagree which of the two counts.", '`{"name": "a", "name": "b"}`', "Remove one of the two."),
    FindingCode("JSON_NUMBER_OUT_OF_RANGE", "error", "A whole number beyond 2^53-1 or a number that no double can hold. Not every client reads it exactly.", '`{"priority": 9007199254740993}`', "Use a smaller number, or write it as a text."),
    FindingCode("JSON_LONE_SURROGATE", "error", "A `\\u` escape is one half of a pair and stands for no character.", '`"\\ud83d"`', "Write both halves, or the character itself."),
    FindingCode("JSON_TOO_DEEP", "error", "More than 64 levels of lists and objects.", "`[[[[...]]]]`", "Flatten the structure."),
)  # fmt: skip
FIELDS: Final = (
    FindingCode("FIELD_MISSING", "error", "A required key is not there. The finding points at the object that lacks it.", '`{"capability_id": "weights"}` without name', "Add the key."),
    FindingCode("FIELD_INVALID", "error", "A value has the wrong type, form or length.", '`"capability_id": "Weights!"`', "Write what the message asks for."),
    FindingCode("FIELD_UNKNOWN", "warning", "A key that nobody reads, often a spelling mistake. It is kept.", '`"intent_trigers": [...]`', "Correct the spelling, or remove the key."),
    FindingCode("TRIGGER_DUPLICATE", "error", "Two triggers are equal when upper and lower case are one.", '`["Lift", "lift"]`', "Remove one of the two."),
    FindingCode("VERSION_IGNORED", "warning", "A version other than latest has no effect: the registry numbers revisions itself.", '`"version": "1.2.0"`', "Remove it."),
    FindingCode("CAPABILITY_ID_DUPLICATE", "error", "Two bundles of one call have the same capability_id.", "two folders with `weights`", "Give one of the two another id."),
    FindingCode("CAPABILITY_ID_MISMATCH", "error", "The front matter of skill.md names another capability_id.", "`capability_id: weight` beside `weights`", "Make them agree, or remove it from skill.md."),
)  # fmt: skip
SKILL: Final = (
    FindingCode("FRONT_MATTER_INVALID", "error", "The YAML between the `---` lines of skill.md is broken, over 16 KB, or uses aliases, custom tags or a key twice.", "`name: a: b`", "Quote values with colons; keep to plain keys and values."),
    FindingCode("TITLE_MISSING", "error", "skill.md has no H1. Playbooks and capabilities need one.", "a skill.md that begins with `## When to use`", "Begin with a line such as `# Weight tracking`."),
    FindingCode("TITLE_DUPLICATE", "warning", "skill.md has a second H1.", "`# One` and later `# Two`", "Make the second an H2."),
    FindingCode("SECTION_MISSING", "error", "A section that the profile requires is not there as an H2.", "no `## Examples`", "Add the heading with text under it."),
    FindingCode("SECTION_EMPTY", "error", "A required section has no text under it. Deeper headings count as text, comments do not.", "`## Examples` at the end of the file", "Write the section."),
    FindingCode("SKILL_EMPTY", "error", "An agent_skill without any text.", "front matter alone", "Write what the agent should do."),
    FindingCode("STEPS_MISSING", "error", "The Steps of a playbook hold no numbered H3.", "`## Steps` with plain paragraphs", "Write each step as `### 1. What to do`."),
    FindingCode("STEP_NOT_NUMBERED", "warning", "A step of a playbook has no number.", "`### Look up the invoice`", "Write `### 2. Look up the invoice`."),
    FindingCode("STEP_DO_MISSING", "error", "A step does not say what the agent does.", "a step with `**Say:**` alone", "Add `**Do:** ...`."),
    FindingCode("STEP_CHECK_MISSING", "warning", "A step does not say what must be true before going on.", "a step with `**Do:**` alone", "Add `**Check:** ...`."),
    FindingCode("STEP_SAY_MISSING", "warning", "A step does not say what to tell the customer.", "a step with `**Do:**` and `**Check:**`", "Add `**Say:** ...`."),
    FindingCode("TOOL_NOT_DEFINED", "error", "skill.md names or calls a tool that is not in tools.json.", "`weight_remove` under Tools", "Define the tool, or correct the name."),
    FindingCode("TOOL_NOT_DOCUMENTED", "error", "A tool of tools.json is not mentioned in the section Tools of skill.md.", "tools.json has `weight_list`, Tools does not", "Add a list item that names it."),
    FindingCode("TOOL_POLICY_MISMATCH", "error", "A write tool stands under Read, or a read tool under Write.", "`### Read` with a tool of kind write", "Move the line, or correct the policy."),
    FindingCode("PLACEHOLDER_LEFT", "warning", "A line of skill.md still says what to write there, as a new draft begins.", "`Say here what the agent does unless the user asks for something else.`", "Write it, or take the line out."),
    FindingCode("EXAMPLE_WORD_UNKNOWN", "warning", "A snake_case word in Examples is nothing that the bundle defines.", "`weight_entry_lst` in a sentence", "Correct the spelling."),
)  # fmt: skip
TOOLS: Final = (
    FindingCode("TOOL_NAME_DUPLICATE", "error", "Two tools of one bundle have one name.", "two tools `weight_list`", "Rename one of the two."),
    FindingCode("TOOL_NAME_COLLISION", "error", "Another published capability has a tool of this name.", "`search` in two capabilities", "Begin the name with the capability, such as `weights_search`."),
    FindingCode("TOOL_NAME_STYLE", "warning", "A tool name is not snake_case.", "`weightList`", "Write `weight_list`."),
    FindingCode("TOOL_SCHEMA_INVALID", "error", 'A schema is not JSON Schema 2020-12, declares another dialect, points at nothing, never ends, or args_schema lacks `"type": "object"`.', '`{"type": "dict"}`', "Correct the schema at the place that is named."),
    FindingCode("TOOL_SCHEMA_TOO_COMPLEX", "error", "The references and combinators of a schema unfold to more than 10,000 schemas, or hold more than 10,000 branches.", "twenty levels, each of which uses the next twice; an `anyOf` of 20,000 values", "Use fewer levels of shared definitions, and `enum` in the place of many branches of one value."),
    FindingCode("TOOL_PATTERN_NOT_CHECKED", "warning", "A pattern is not run: it uses look-around or back-references, which a linear engine cannot run, or takes too much to compile, or is written in a way that the engine does not know. Sample values are not matched against it.", '`"pattern": "^(?!x)"`, `"(a{1000}){1000}"`', "Write it without them, and with smaller repeats, where you can."),
    FindingCode("REF_EXTERNAL", "error", "A `$ref` or `$dynamicRef` leads out of the document. Nothing is ever fetched.", '`{"$ref": "https://example.com/x.json"}`', "Copy the schema into `$defs`."),
    FindingCode("TOOL_USER_ID_ARGUMENT", "warning", "`user_id` is among the arguments. A model must not choose the user; the runtime sets it.", '`"properties": {"user_id": ...}`', "Remove the argument."),
    FindingCode("TOOL_APPROVAL_UNSET", "warning", "A write tool leaves `requires_approval` out.", '`{"kind": "write"}`', 'Add `"requires_approval": true` or `false`.'),
    FindingCode("TOOL_DEFAULT_INVALID", "warning", "A default that its own property refuses.", '`{"type": "integer", "default": "ten"}`', "Correct the default or the type."),
    FindingCode("TOOL_PROPERTY_UNDESCRIBED", "warning", "A property without a description. The agent has only its name to go by.", '`"limit": {"type": "integer"}`', "Say what it means."),
    FindingCode("TOOL_VENDOR_LIMIT", "warning", "OpenAI, Anthropic or Gemini would not take the schema as it is; the message says which and why.", '`{"type": "array"}` without items', "Follow the hint, or ignore it if you never use that vendor."),
)  # fmt: skip
GATE: Final = (
    FindingCode("POLICY_LOOSENED", "error", "A tool may do more, or with less approval, than in the release that readers have: it writes where it read, no longer needs approval, or more roles may call it.", '`"requires_approval": false` where it was true', "If it is meant, acknowledge the code when you publish; otherwise put the policy back."),
    FindingCode("APPROVAL_REQUIRED", "error", "The registry, or a skill group of the capability, asks that a second person approves what is published: all of it, or a looser policy. No approval of these very texts is there.", "a draft that was edited after it was approved", "Ask for a review in the Studio; publish the same texts once they are approved."),
    FindingCode("LOOSENING_NOT_ALLOWED", "error", "A policy is looser than in the release that readers have, and only an admin may publish that here.", '`"requires_approval": false` where it was true', "Ask an admin to publish it, or put the policy back."),
    FindingCode("NOTE_REQUIRED", "error", "The registry, or a skill group of the capability, asks for a note with each publish.", "`bundle publish` without `--note`", "Say why, in a sentence."),
    FindingCode("COMMENTS_OPEN", "error", "The registry, or a skill group of the capability, asks that every comment of the review is resolved before its texts are published, and some are open.", "a question on a line that nobody has answered", "Open the review, answer what is asked there and resolve it."),
    FindingCode("CONTRACT_BROKEN", "warning", "What was right may be refused: a tool or a form is gone, an argument became required, an enum or a bound became narrower, or it needs a program or a system that it did not need.", 'a new name in `"required"`', "Tell those who rely on it, or publish under a new capability_id and deprecate this one."),
    FindingCode("TRIGGER_OVERLAP", "warning", "Another published capability has a trigger of the same words: a message with it leads to both, and the agent has to ask.", "`food` in `meals` and in `diary`", "Make the trigger more telling, or take it out of one of the two."),
    FindingCode("GOLDEN_SENTENCE_MOVED", "warning", "A golden sentence of another capability would lead to this one once it is published.", "`log my lunch` of `meals` would lead to `diary`", "Make the trigger that the message names more telling, or agree with the other's owner."),
    FindingCode("GOLDEN_SENTENCE_MISSED", "warning", "A golden sentence of this bundle comes nearer to another capability.", "`what did I eat` under should_match of `diary` leads to `meals`", "Add more sentences like it, or a trigger that it holds."),
)  # fmt: skip
IMPORT: Final = (
    FindingCode("IMPORT_FRONT_MATTER_UNUSABLE", "error", "SKILL.md has no front matter, or it is never closed, or no YAML even with its odd values in quotes. The skill is refused.", "a SKILL.md that begins with `# Title`", "Begin the file with `---`, name, description and `---`."),
    FindingCode("IMPORT_NAME_UNUSABLE", "error", "The front matter names no skill, and no id can be made of what it says. The skill is refused.", "`slug: parcel` without name", "Add a name of lower-case words joined by hyphens."),
    FindingCode("IMPORT_DESCRIPTION_UNUSABLE", "error", "The front matter has no description, or one that is not text. The skill is refused.", "`description:` without a value", "Say in one or two sentences what the skill does and when to use it."),
    FindingCode("IMPORT_YAML_RESCUED", "warning", "A line of the front matter is no YAML, most often for a colon in an unquoted value; the value was taken as a text.", "`description: Keywords: a, b`", "Put quotes around the whole value."),
    FindingCode("IMPORT_KEY_LOST", "warning", "A key appears twice in the front matter, or is no plain word; the last one counts.", "two lines `license:`", "Remove one of the two."),
    FindingCode("IMPORT_KEY_MAPPED", "warning", "A key of another product was put into the key of capability.json that means the same.", "`metadata.moltbot.requires.bins`, `triggers`", "Nothing; look at the value."),
    FindingCode("IMPORT_KEY_MOVED", "warning", "A key that neither the Agent Skills format nor capability.json has is kept under metadata.", "`author: Ann`", "Nothing, or move it under metadata in the source."),
    FindingCode("IMPORT_VALUE_TO_TEXT", "warning", "A value that has to be a text was a list, a map, a number or a truth value; it is kept as text, lists and maps as JSON.", "`metadata: {tags: [a, b]}`", "Write it as a text in the source."),
    FindingCode("IMPORT_FORM_ODD", "warning", "A value has another form than the Agent Skills format says; it is kept as it is.", "`allowed-tools` as a list", "Nothing, or write it as the format says."),
    FindingCode("IMPORT_NAME_CHANGED", "warning", "The name is none of the Agent Skills format; the nearest one that is gave the capability_id. Two odd names can meet in one id.", "`name: Cold Email`", "Rename the skill in the source: lower-case words joined by hyphens."),
    FindingCode("IMPORT_NAME_DIFFERS", "warning", "The name is not the name of the folder that holds SKILL.md; the name counts.", "`pdf/SKILL.md` with `name: pdf-tools`", "Give both the same name."),
    FindingCode("IMPORT_FILE_NAME", "warning", "The file is not spelled as the format says.", "`Skill.md`", "Rename it."),
    FindingCode("IMPORT_FILE_LEFT_OUT", "warning", "Files beside SKILL.md are left out: they are no texts, too large or too many, or have a path that no bundle takes, such as that of a hidden file.", "`assets/logo.png`, `.env`", "Rename or shorten what the agent needs, or keep it elsewhere."),
    FindingCode("IMPORT_PROFILE_CHOSEN", "warning", "The text has every section of a playbook or a runbook; that profile was chosen in the place of agent_skill.", "`## Goal`, `## Prerequisites`, `## Steps`", "Set skill_profile to agent_skill if it is none."),
    FindingCode("IMPORT_EXPORT_CHANGED", "warning", "SKILL.md says something else than the capability.json that was exported with it; SKILL.md counts.", "a description that was edited in SKILL.md", "Nothing, if it is meant."),
)  # fmt: skip
STORED: Final = (
    FindingCode("DIGEST_MISMATCH", "error", "What the database holds of a published revision is not what was published: agents get `SKILL_MALFORMED`. Somebody, or a disk, has changed it behind the registry's back.", "an UPDATE by hand of a stored text", "Publish the texts again, or restore a backup."),
)  # fmt: skip
LIMITS: Final = (
    FindingCode("CHECK_FAILED", "error", "A check could not finish: it met an input that it does not understand, or ran out of time. Such a bundle cannot be published.", "a very large and odd bundle", "Make the bundle smaller or simpler, and report the case to the maintainers."),
    FindingCode("FINDINGS_CUT", "warning", "There were more than 3,000 findings in all.", "a thousand errors each of four kinds", "Fix the ones that are shown, then check again."),
)  # fmt: skip


def list_codes() -> dict[str, FindingCode]:
    """Every code of the product, each with cause, example and fix."""
    return index_by_code(_all())


def _all() -> Iterator[FindingCode]:
    # The rule tables take long to build: only a list of all codes pays for them.
    from registry.validation import a2ui, security

    yield from (*FILES, *JSON, *FIELDS, *SKILL, *TOOLS, *GATE, *IMPORT, *STORED, *LIMITS)
    yield from a2ui.CODES
    yield from security.CODES


def severity_by_code() -> dict[str, Severity]:
    """The severity of each code where a problem does not say its own."""
    return {code: row.severity for code, row in list_codes().items()}
