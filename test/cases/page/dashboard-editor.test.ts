/** Options, positions and undo of the dashboard editor. */
import '../../../subjects/query-kinds.ts';
import test from 'ava';
import { Transformation } from '../../../schemas/dashboards/transformations.ts';
import { DashboardFields } from '../../../subjects/dashboards/document.ts';
import { DashboardDraft, findPlace } from '../../../web/areas/dashboards/editing/draft.ts';
import {
  convertVisual,
  optionsByKind,
  readOption,
  writeOption,
} from '../../../web/areas/dashboards/editing/options.ts';
import {
  createTransformation,
  kindEntries,
  moveItem,
  orderColumns,
} from '../../../web/areas/dashboards/editing/transformation-kinds.ts';
import { document, panel } from './dashboard-document.ts';

for (const [kind, groups] of Object.entries(optionsByKind))
  test(`the API accepts each value of the options of the visualization ${kind}`, (t) => {
    const saved = (fields: object): boolean =>
      DashboardFields.safeParse({ name: 'one', panels: [{ id: 'a', visual: { kind }, fields: {}, ...fields }] })
        .success;
    const empty = { visual: { kind }, fields: {} } as never;
    t.true(saved({}));
    for (const { path, type, ...option } of groups.flatMap(({ options }) => options)) {
      const values = {
        choice: 'choices' in option ? option.choices.map(([value]) => value).filter((value) => value !== '') : [],
        switch: [true, false],
        list: 'choices' in option ? [option.choices.map(([value]) => value)] : [],
        number: [2],
        text: ['By'],
      }[type];
      for (const value of values) {
        const changed = { ...(empty as object), ...writeOption(empty, path, value) };
        t.true(saved(changed), `${option.label}: ${value}`);
        t.deepEqual(readOption(changed as never, path), value);
        t.deepEqual(writeOption(changed as never, path, undefined), { [path[0]]: (empty as never)[path[0]] });
      }
    }
  });

test('another visualization keeps the settings that both have', (t) => {
  const legend = { place: 'right' };
  const reduce = { reducer: 'max' };
  t.deepEqual(convertVisual({ kind: 'stat', reduce, text: 'name' } as never, 'gauge'), {
    kind: 'gauge',
    reduce,
  } as never);
  t.deepEqual(convertVisual({ kind: 'time-series', legend } as never, 'pie'), { kind: 'pie', legend } as never);
  t.deepEqual(convertVisual({ kind: 'time-series', legend } as never, 'stat'), { kind: 'stat' } as never);
});

const place = (x: number, y: number, width = 12, height = 8) => ({ x, y, width, height });
for (const { what, places, expected } of [
  { what: 'at the top if there is no other', places: [], expected: place(0, 0) },
  { what: 'next to the last one', places: [place(0, 0, 24, 4), place(0, 4)], expected: place(12, 4) },
  { what: 'below if there is no room', places: [place(0, 0), place(12, 0)], expected: place(0, 8) },
  {
    what: 'below a panel that reaches further down',
    places: [place(12, 0, 12, 9), place(0, 4)],
    expected: place(0, 12),
  },
])
  test(`a new panel is ${what}`, (t) => t.deepEqual(findPlace(places, { width: 12, height: 8 }), expected));

test('edits of a draft are undone and redone step by step; typing in a field is one step', (t) => {
  const draft = new DashboardDraft();
  draft.startEditing({ ...document({ panels: [panel('a')] }), version: 1 } as never);
  const title = () => draft.findPanel('a')?.title;
  for (const text of ['n', 'ne', 'new']) draft.updatePanel('a', { title: text });
  draft.updateDocument({ name: 'two' });
  draft.updatePanel('a', { title: 'newer' });
  draft.undo();
  t.is(title(), 'new');
  draft.undo();
  draft.undo();
  t.deepEqual([title(), draft.canUndo.value, draft.hasChanged.value], ['a', false, false]);
  draft.redo();
  t.deepEqual([title(), draft.canRedo.value], ['new', true]);
  draft.removePanel('a');
  t.false(draft.canRedo.value);
  draft.undo();
  t.is(title(), 'new');
});

for (const [kind] of kindEntries)
  for (const columns of [[], ['Time', 'checkout', 'payments']])
    test(`the API accepts a new transformation ${kind} of ${columns.length} columns`, (t) => {
      const { off: _, ...created } = createTransformation(kind, { columns, queries: ['A', 'B'] });
      const parsed = Transformation.safeParse(created);
      t.true(parsed.success, String(parsed.error));
    });

test('the editor has all kinds of transformations of the API', (t) => {
  const kinds = Transformation.options.map((option) => option.shape.kind.value);
  t.deepEqual(kindEntries.map(([kind]) => kind).sort(), [...kinds].sort());
});

test('fields are organized in their order, and those that the result lacks stay', (t) => {
  t.deepEqual(orderColumns(['a', 'b', 'c'], { order: ['c'], hidden: ['gone'], names: { b: 'second' } }), [
    'c',
    'a',
    'b',
    'gone',
  ]);
  t.deepEqual(moveItem(['a', 'b', 'c'], 2, -1), ['a', 'c', 'b']);
  t.deepEqual(moveItem(['a', 'b'], 0, -1), ['a', 'b']);
});
