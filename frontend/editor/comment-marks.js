// Where comments stand in the text: places that move with what is typed, and a mark for each that has words.
import { invertedEffects } from "@codemirror/commands";
import { StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView } from "@codemirror/view";

const setPlaces = StateEffect.define();
// {id, isAccepted}: goes with the edit that takes over a suggestion, there and back.
export const acceptance = StateEffect.define();
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

const isHistory = (transaction) => transaction.isUserEvent("undo") || transaction.isUserEvent("redo");
const acceptancesOf = (transaction) => transaction.effects.filter((effect) => effect.is(acceptance)).map(({ value }) => value);

// `moved` is called when the lines may stand elsewhere, `decided` when an undo or a redo was of an acceptance.
export const commentMarks = ({ moved, decided }) => [
  places,
  invertedEffects.of((transaction) => acceptancesOf(transaction).map(({ id, isAccepted }) => acceptance.of({ id, isAccepted: !isAccepted }))),
  EditorView.updateListener.of(({ transactions }) => transactions.filter(isHistory).flatMap(acceptancesOf).forEach(decided)),
  EditorView.updateListener.of((update) => (update.docChanged || update.geometryChanged) && moved()),
];

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
