"""Every finding about UI schemas: what it means and what to do, for the author of the form (A2UI.md, section 6)."""

from __future__ import annotations

from registry.bundles.problem import FindingCode

_SHAPE_AND_SIZE = (
    FindingCode(
        "UI_FILE_NOT_JSON",
        "error",
        "ui_schemas.json is not JSON that can be read: a comma or quote is missing, a key appears twice, or a value "
        "such as NaN is none that JSON has.",
        '[{"schema_id": "WeightEntryForm.v1",}]',
        "Go to the line that is named and fix the punctuation. An editor with JSON support marks the place.",
    ),
    FindingCode(
        "UI_FILE_NOT_ARRAY",
        "error",
        "ui_schemas.json holds something else than a list of UI schemas.",
        '"WeightEntryForm.v1"',
        'Write [{"schema_id": "WeightEntryForm.v1", "definition": {...}}], or [] where the capability has no form.',
    ),
    FindingCode(
        "UI_ENTRY_SHAPE",
        "error",
        "An entry lacks schema_id or definition, has a key that there is not, or a value of the wrong type or length.",
        '{"schema_id": "WeightEntryForm.v1"}',
        "Use schema_id and definition, and if you like title, description, a2ui_version and actions; no other keys.",
    ),
    FindingCode(
        "UI_DEFINITION_SHAPE",
        "error",
        "A definition lacks catalogId or components, has a key that there is not, or a value of the wrong type.",
        '{"definition": {"components": {}}}',
        "Use catalogId and components (a list), and if you like dataModel, theme and sendDataModel; no other keys.",
    ),
    FindingCode(
        "UI_SCHEMA_ID_FORMAT",
        "error",
        "A schema_id is not a name with a version.",
        '"schema_id": "weight_entry_form"',
        'Begin with a capital letter, use letters and digits, and end with .v and a number: "WeightEntryForm.v1".',
    ),
    FindingCode(
        "UI_SCHEMA_ID_DUPLICATE",
        "error",
        "Two entries have the same schema_id, so that nobody can say which form is meant.",
        '[{"schema_id": "WeightEntryForm.v1", ...}, {"schema_id": "WeightEntryForm.v1", ...}]',
        "Rename one of them; for a new version of a form count the number up: WeightEntryForm.v2.",
    ),
    FindingCode(
        "UI_VERSION_UNSUPPORTED",
        "error",
        "The form is written for a version of A2UI that clients of this registry do not draw.",
        '"a2ui_version": "v0.8"',
        'Write the form for A2UI v0.9.1 and set "a2ui_version": "v0.9.1", or leave the key out. The versions differ in '
        "more than the number: components of v0.8 have to be written again.",
    ),
    FindingCode(
        "UI_CATALOG_UNSUPPORTED",
        "error",
        "The form names a catalogue of components other than the A2UI basic catalogue.",
        '"catalogId": "https://example.org/my-catalog.json"',
        'Write "catalogId": "https://a2ui.org/specification/v0_9/catalogs/basic/catalog.json".',
    ),
    FindingCode(
        "UI_LIMIT_EXCEEDED",
        "error",
        "A form is larger, deeper or more entangled than A2UI clients take: 50 forms a capability, 64 KiB a form, 200 "
        "components, 50 levels, 5 calls inside each other, 10,000 characters in a text with ${...}.",
        '{"components": [... 201 of them ...]}',
        "Split the form, shorten its sample data, or use fewer levels, as the message says.",
    ),
)

_COMPONENTS = (
    FindingCode(
        "UI_COMPONENT_UNKNOWN",
        "error",
        "A component's type is not in the basic catalogue. There is no Dropdown, for one.",
        '{"id": "unit", "component": "Dropdown"}',
        'Use one of the 18 types; for a choice from a list that is "ChoicePicker".',
    ),
    FindingCode(
        "UI_COMPONENT_INVALID",
        "error",
        "A component lacks a property that its type needs, has one that its type does not know, or a value does not "
        "fit.",
        '{"id": "note", "component": "TextField", "label": "Note", "placeholder": "optional"}',
        "Add, remove or correct the property that the message names.",
    ),
    FindingCode(
        "UI_FUNCTION_UNKNOWN",
        "error",
        "The form calls a function that the basic catalogue does not have.",
        '{"call": "isEmail", "args": {"value": {"path": "/email"}}}',
        "Use one of the 14 functions: required, regex, length, numeric, email, formatString, formatNumber, "
        "formatCurrency, formatDate, pluralize, openUrl, and, or, not.",
    ),
    FindingCode(
        "UI_FUNCTION_ARGS",
        "error",
        "A function is called with an argument missing, unknown or of the wrong type, a regular expression cannot be "
        "read, or the ${...} in a text cannot.",
        '{"call": "regex", "args": {"value": {"path": "/code"}, "pattern": "(ab"}}',
        "Correct the argument that the message names.",
    ),
    FindingCode(
        "UI_URL_NOT_ALLOWED",
        "error",
        "An address that the form loads or opens does not begin with https://.",
        '{"id": "photo", "component": "Image", "url": "http://example.org/a.png"}',
        "Write the full https:// address.",
    ),
)

_TOPOLOGY = (
    FindingCode(
        "UI_COMPONENT_ID_DUPLICATE",
        "error",
        "Two components of one form have the same id; only one of them would be drawn.",
        '[{"id": "note", "component": "Text", ...}, {"id": "note", "component": "TextField", ...}]',
        "Give one of them another id, and refer to it by that.",
    ),
    FindingCode(
        "UI_ROOT_MISSING",
        "error",
        "No component has the id root. Drawing begins there, so that nothing would be shown.",
        '[{"id": "main", "component": "Column", "children": []}]',
        'Give the outermost component the id "root".',
    ),
    FindingCode(
        "UI_CHILD_REF_UNKNOWN",
        "error",
        "A component names a child, trigger, content, tab or template that does not exist.",
        '{"id": "root", "component": "Card", "child": "frm"}',
        "Correct the id, or add the component.",
    ),
    FindingCode(
        "UI_COMPONENT_CYCLE",
        "error",
        "A component contains itself, directly or through others. A browser would draw it until it hangs.",
        '[{"id": "root", "component": "Card", "child": "a"}, {"id": "a", "component": "Card", "child": "root"}]',
        "Take the component out of the one that should not contain it.",
    ),
    FindingCode(
        "UI_COMPONENT_ORPHAN",
        "error",
        "A component is never shown, for nothing that is shown refers to it.",
        '[{"id": "root", "component": "Text", "text": "Hi"}, {"id": "extra", "component": "Divider"}]',
        "Add its id to the children of another component, or remove it.",
    ),
)

_BINDINGS = (
    FindingCode(
        "UI_PATH_SYNTAX",
        "error",
        "A path cannot be read: a ~ stands for nothing.",
        '{"path": "/entries/0/no~2te"}',
        "Write steps with / between them. Inside a name, write ~0 for ~ and ~1 for /.",
    ),
    FindingCode(
        "UI_PATH_UNRESOLVED",
        "error",
        "A path leads to nothing in dataModel, so that the form would show nothing there. A warning where dataModel is "
        "left out, for then no path can be checked.",
        '{"path": "/entry/wieght"} with "dataModel": {"entry": {"weight": "187.6"}}',
        "Correct the path, or add a sample value for it to dataModel.",
    ),
    FindingCode(
        "UI_PATH_RELATIVE_OUTSIDE_TEMPLATE",
        "error",
        "A path that does not begin with / starts at a list item, and this component is not drawn inside a list.",
        '{"id": "root", "component": "Text", "text": {"path": "note"}}',
        "Begin the path with /, or move the component into a list's template.",
    ),
    FindingCode(
        "UI_TEMPLATE_NOT_ARRAY",
        "error",
        "A template draws a component once for each item of a list, and its path leads to something else.",
        '"children": {"componentId": "row", "path": "/entry"} with "dataModel": {"entry": {}}',
        "Bind the template to a list in dataModel.",
    ),
    FindingCode(
        "UI_TEMPLATE_NO_SAMPLE",
        "warning",
        "The list of a template has no sample item, so that the paths inside it cannot be checked.",
        '"children": {"componentId": "row", "path": "/entries"} with "dataModel": {"entries": []}',
        "Add one sample item to the list.",
    ),
    FindingCode(
        "UI_BINDING_TYPE",
        "error",
        "The sample value has a type that the widget cannot show: a CheckBox needs true or false, a ChoicePicker a "
        "list of texts, a Slider a number, a TextField or DateTimeInput a text.",
        '{"component": "CheckBox", "value": {"path": "/done"}, ...} with "dataModel": {"done": "yes"}',
        "Change the sample, or use another component. A TextField for numbers holds text, too.",
    ),
    FindingCode(
        "UI_INPUT_NOT_BOUND",
        "warning",
        "An input's value is not bound to a path, so that what the user enters is lost.",
        '{"id": "note", "component": "TextField", "label": "Note", "value": ""}',
        'Write "value": {"path": "/note"} and a sample for it in dataModel.',
    ),
    FindingCode(
        "UI_CHOICE_VALUE_UNKNOWN",
        "warning",
        "The sample selects a value that is none of the options.",
        '"options": [{"label": "kg", "value": "kg"}], "value": {"path": "/unit"} with "dataModel": {"unit": ["lb"]}',
        "Correct the sample, or add the option.",
    ),
    FindingCode(
        "UI_CHOICE_OPTION_DUPLICATE",
        "error",
        "Two options stand for the same value, so that a choice between them cannot be told.",
        '"options": [{"label": "kg", "value": "kg"}, {"label": "Kilogram", "value": "kg"}]',
        "Give each option a value of its own, or remove one.",
    ),
)

_ACTIONS = (
    FindingCode(
        "UI_ACTION_SHAPE",
        "error",
        "An action is not exactly one of the three things that an event can do.",
        '"actions": {"save": "weight_entry_save"}',
        'Write {"tool": "tool_name"}, {"reply": true} or {"dismiss": true}.',
    ),
    FindingCode(
        "UI_ACTION_UNBOUND",
        "error",
        "A button raises an event that actions does not name, so that a click would do nothing.",
        '{"event": {"name": "save"}} with "actions": {}',
        "Add the event to actions, or correct its name.",
    ),
    FindingCode(
        "UI_ACTION_UNUSED",
        "warning",
        "An action waits for an event that no component raises.",
        '"actions": {"cancel": {"dismiss": true}} with no button that raises cancel',
        "Remove the action, or give a Button an event of that name.",
    ),
    FindingCode(
        "UI_ACTION_TOOL_UNKNOWN",
        "error",
        "An action calls a tool that this capability's tools.json does not have.",
        '"actions": {"save": {"tool": "weight_entry_sav"}}',
        "Correct the name, or add the tool to tools.json.",
    ),
    FindingCode(
        "UI_ACTION_ARG_UNKNOWN",
        "error",
        "A button sends an argument that its tool does not take.",
        '"context": {"confirm": true} for a tool with the arguments entries and source',
        "Remove it from context, correct its name, or add it to the tool's args_schema.",
    ),
    FindingCode(
        "UI_ACTION_ARG_MISSING",
        "error",
        "A button does not send an argument that its tool requires.",
        '"context": {} for a tool that requires entries',
        "Add the argument to the event's context, bound to a path.",
    ),
    FindingCode(
        "UI_ACTION_ARG_TYPE",
        "error",
        "With the sample data, the button would send a value that its tool refuses. Texts that are numbers, and lists "
        "of one item, are converted first.",
        '"unit": ["stone"] where the tool allows lb and kg',
        "Correct the sample, use the widget that suits, or change the tool's args_schema.",
    ),
    FindingCode(
        "UI_REPLY_VALUE_MISSING",
        "error",
        "A button answers the agent without a value, so that the agent would learn nothing.",
        '{"event": {"name": "answer", "context": {}}} with "actions": {"answer": {"reply": true}}',
        'Add "value" to the event\'s context: a text, or the path of what the user chose.',
    ),
)

_REFERENCES = (
    FindingCode(
        "UI_TOOL_REF_UNKNOWN",
        "error",
        "A tool names a UI schema that ui_schemas.json does not have.",
        '"ui": {"form": "WeightEntryFrom.v1"}',
        "Correct the name in tools.json, or add the form to ui_schemas.json.",
    ),
    FindingCode(
        "UI_TOOL_REF_MISMATCH",
        "error",
        "A tool names a form that never calls it.",
        '"ui": {"form": "WeightEntryForm.v1"} on a tool that none of the form\'s actions names',
        'Add an action {"tool": "tool_name"} to the form, or name another form.',
    ),
    FindingCode(
        "UI_DOC_REF_UNKNOWN",
        "error",
        "skill.md mentions a UI schema that ui_schemas.json does not have.",
        "Open `WeightGoalForm.v1`.",
        "Correct the name in skill.md, or add the form to ui_schemas.json.",
    ),
    FindingCode(
        "UI_SCHEMA_UNREFERENCED",
        "warning",
        "Nothing uses a form: no tool names it, skill.md does not mention it, and it sends no reply.",
        '{"schema_id": "WeightEntryForm.v1", ...} with no mention anywhere',
        "Say in skill.md when to open it, name it in a tool's ui, or remove it.",
    ),
    FindingCode(
        "UI_A2UI_REJECTED",
        "error",
        "The official A2UI validator refuses the form although it follows the rules, mostly because it takes a plain "
        "value for something else.",
        '{"id": "mail", "component": "Icon", "name": "mail"}',
        "Rename what the message points at; here, give the icon another id.",
    ),
)

CODES: tuple[FindingCode, ...] = (*_SHAPE_AND_SIZE, *_COMPONENTS, *_TOPOLOGY, *_BINDINGS, *_ACTIONS, *_REFERENCES)

SEVERITIES = {code.code: code.severity for code in CODES}
