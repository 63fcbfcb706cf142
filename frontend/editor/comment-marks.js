// Where comments stand in the text: places that move with what is typed, and a mark for each that has words.
import { StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView } from "@codemirror/view";

const setPlaces = StateEffect.define();
const look = Decoration.mark({ class: "md-commented" });
// [{id, from, to, isLost}]
const places = StateField.define({
  create: () => [],
  update(found, { changes, docChanged, effects }) {
    const own = effects.find((effect) => effect.is(setPlaces));
    if (own) return own.value;
    if (!docChanged) return found;
    return found.map(({ id, from, to, isLost }) => {
      const [begin, end] = [changes.mapPos(from, -1), changes.mapPos(to, 1)];
      return { id, from: begin, to: end, isLost: isLost || (from < to && begin === end) };
    });
  },
  provide: (field) => EditorView.decorations.from(field, (found) => Decoration.set(found.filter(({ from, to }) => from < to).map(({ from, to }) => look.range(from, to)), true)),
});

// `moved` is called when the lines may stand elsewhere.
export const commentMarks = (moved) => [places, EditorView.updateListener.of((update) => (update.docChanged || update.geometryChanged) && moved())];

// {id: {from, to}} of those whose words are there.
export const placesOf = (state) => new Map(state.field(places).filter(({ isLost }) => !isLost).map((one) => [one.id, one]));

// Comments at their lines, [{id, line}]; those that have a place already keep it.
export function markComments(view, comments) {
  const { doc } = view.state;
  const known = new Map(view.state.field(places).map((one) => [one.id, one]));
  const found = comments.filter(({ line }) => line <= doc.lines).map(({ id, line }) => {
    const { from, to } = doc.line(line);
    return known.get(id) ?? { id, from, to, isLost: false };
  });
  view.dispatch({ effects: setPlaces.of(found) });
}
