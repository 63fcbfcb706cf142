// What the editor says, in the reader's language. words.js knows it; where there is no page, as in the tests, it is said as
// it is written here.
const written = (words, values = {}) => words.replace(/\{(\w+)\}/g, (_, name) => String(values[name]));

export const say = (words, values) => (globalThis.say ?? written)(words, values);
