// The catalog of the page (Django's JavaScriptCatalog). Where there is no page, as in the tests, a message is shown as written.
export const gettext = (message) => (globalThis.gettext ?? String)(message);

// As Django's `interpolate` with named values, which is asked for by a third argument.
export const interpolate = (message, values) => message.replace(/%\((\w+)\)s/g, (_, name) => String(values[name]));
