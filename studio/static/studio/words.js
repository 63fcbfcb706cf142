// What the scripts say, in the reader's language: `say("Remove {name}", { name })`. The page brings the translations
// (studio/pages/js_translations.py); a sentence without one is said as it is written in the script.
(() => {
  const words = {};
  for (const given of document.querySelectorAll("#script-words, #editor-words")) Object.assign(words, JSON.parse(given.textContent));
  window.say = (sentence, values = {}) =>
    (words[sentence] ?? sentence).replace(/\{(\w+)\}/g, (place, name) => (name in values ? String(values[name]) : place));
})();
