/**
 * Functions of the page for dashboards: merges of concurrent edits, positions on the grid, patterns, and reduced
 * values.
 */
import test from 'ava';
import type { DashboardFields } from '../../subjects/dashboards/document.ts';
import { mergeDocuments } from '../../web/areas/dashboards/editing/merge.ts';
import { movePanelToSection, removeSection } from '../../web/areas/dashboards/editing/section-moves.ts';
import {
  convertVariable,
  createVariable,
  filterLines,
  isWritable,
  type LineFormat,
  moveItem,
  optionLines,
} from '../../web/areas/dashboards/editing/variable-kinds.ts';
import { isMatch } from '../../web/areas/dashboards/patterns.ts';
import { rearrange } from '../../web/areas/dashboards/rearrange.ts';
import { reduceValues } from '../../web/charts/reduce.ts';
import { document, panel } from './page/dashboard-document.ts';

test('separate changes of two users are merged without a conflict', (t) => {
  const base = document({ panels: [panel('a'), panel('b'), panel('c')] });
  const mine = document({ panels: [panel('a', 'mine'), panel('c'), panel('d')] });
  const theirs = document({
    name: 'two',
    tags: ['x'],
    panels: [panel('a'), panel('b'), panel('c', 'theirs'), panel('e')],
  });
  const { document: both, conflicts } = mergeDocuments({ base, mine, theirs });
  t.deepEqual(conflicts, []);
  t.deepEqual([both.name, both.tags], ['two', ['x']]);
  t.deepEqual(
    both.panels.map(({ id, title }) => [id, title]),
    [
      ['a', 'mine'],
      ['c', 'theirs'],
      ['d', 'd'],
      ['e', 'e'],
    ],
  );
});

test('different changes of the same item conflict, and one of them is chosen; equal changes do not conflict', (t) => {
  const base = document({ panels: [panel('a'), panel('b')] });
  const mine = document({ name: 'same', panels: [panel('a', 'mine'), panel('b')] });
  const theirs = document({ name: 'same', panels: [panel('a', 'theirs')] });
  const { document: mergedDocument, conflicts } = mergeDocuments({ base, mine, theirs });
  t.deepEqual(conflicts, [{ key: 'panels a', description: 'panel “mine”' }]);
  t.deepEqual(
    mergedDocument.panels.map(({ title }) => title),
    ['mine'],
  );
  const { document: chosen } = mergeDocuments({ base, mine, theirs }, { 'panels a': 'theirs' });
  t.deepEqual(
    chosen.panels.map(({ title }) => title),
    ['theirs'],
  );
});

const named = (...ids: readonly string[]) => ids.map((id) => ({ id, title: id }));
for (const { what, base, mine, theirs, both } of [
  { what: 'a change in theirs only is preserved', base: 'abc', mine: 'abc', theirs: 'cab', both: 'cab' },
  { what: 'a change in mine only is preserved', base: 'abc', mine: 'bca', theirs: 'abc', both: 'bca' },
  { what: 'theirs is preserved when mine adds an item', base: 'abc', mine: 'abcd', theirs: 'cab', both: 'cabd' },
  { what: 'theirs is preserved when mine removes an item', base: 'abc', mine: 'ac', theirs: 'cba', both: 'ca' },
  { what: 'mine is preserved when theirs adds an item', base: 'abc', mine: 'cba', theirs: 'abcd', both: 'cbad' },
  { what: 'mine is preserved if both changed it', base: 'abc', mine: 'bca', theirs: 'cab', both: 'bca' },
] as const)
  test(`a merge preserves the order of sections and variables that one user changed: ${what}`, (t) => {
    const of = (ids: string): DashboardFields =>
      document({ sections: named(...ids), variables: [...ids].map((name) => ({ name })) });
    const { document: merge, conflicts } = mergeDocuments({ base: of(base), mine: of(mine), theirs: of(theirs) });
    t.is(merge.sections.map(({ id }) => id).join(''), both);
    t.is(merge.variables.map(({ name }) => name).join(''), both);
    t.deepEqual(conflicts, []);
  });

test('a moved panel stays on the grid, pushes overlapped panels down, and panels move up to fill space', (t) => {
  const at = (x: number, y: number, width = 12, height = 4) => ({ x, y, width, height });
  const places = new Map([
    ['a', at(0, 0)],
    ['b', at(12, 0)],
    ['c', at(0, 4, 24)],
  ]);
  t.deepEqual(Object.fromEntries(rearrange(places, 'b', at(0, 0))), {
    b: at(0, 0),
    a: at(0, 4),
    c: at(0, 8, 24),
  });
  t.deepEqual(rearrange(places, 'a', at(20, 0)).get('a'), at(12, 0));
  t.deepEqual(rearrange(places, 'a', at(-5, -5, 40, 0)).get('a'), at(0, 0, 24, 2));
});

for (const [pattern, text, matches] of [
  ['^errors', 'errors of cart', true],
  ['^(cart|web)$', 'web', true],
  ['.*5..', 'code 503', true],
  ['total$', 'totals', false],
  ['(a+)+$', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!', false],
  ['(.*)*x', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', false],
  ['[', '[', false],
] as const)
  test(`the pattern ${pattern} ${matches ? 'matches' : 'does not match'} ${text}`, (t) => {
    t.is(isMatch(pattern, text), matches);
  });

for (const [reducer, figure] of [
  ['last-not-null', 4],
  ['last', undefined],
  ['first', 1],
  ['mean', 2.5],
  ['max', 4],
  ['p50', 2.5],
  ['difference', 3],
  ['delta', 3],
  ['count', 5],
] as const)
  test(`the figure ${reducer} of 1, 2, 3, 4 and nothing is ${figure}`, (t) => {
    t.is(reduceValues([1, '2', 3, 4, null], reducer), figure);
  });

test('after a section is removed, its panels follow the others, its children have no section, and panels move to a section’s end', (t) => {
  const at = (id: string, section: string | null, y: number) => ({
    id,
    place: { section, x: 3, y, width: 6, height: 4 },
  });
  const before = document({
    sections: [
      { id: 's', within: null },
      { id: 'in', within: 's' },
    ],
    panels: [at('top', null, 2), at('a', 's', 0), at('b', 's', 4), at('c', 'in', 0)],
  });
  const after = removeSection(before, 's');
  t.deepEqual(after.sections, [{ id: 'in', within: null }] as never);
  t.deepEqual(
    after.panels?.map(({ id, place }) => [id, place.section, place.y]),
    [
      ['top', null, 2],
      ['a', null, 6],
      ['b', null, 10],
      ['c', 'in', 0],
    ],
  );
  const moved = movePanelToSection(before, 'top', 's').panels?.[0]?.place;
  t.deepEqual([moved?.section, moved?.x, moved?.y], ['s', 0, 8]);
});

test('a variable of a changed kind preserves the common fields, and gets the required fields of the new kind', (t) => {
  const before = { ...createVariable([{ name: 'variable2' }]), title: 'Job', several: true, pattern: 'x' } as never;
  t.like(convertVariable(before, 'field-values'), {
    name: 'variable3',
    title: 'Job',
    several: true,
    pattern: 'x',
    field: 'service',
  });
  t.like(convertVariable(before, 'list'), { name: 'variable3', several: true, options: [{ value: 'one' }] });
  t.false('pattern' in convertVariable(before, 'list'));
  t.deepEqual(convertVariable(before, 'constant'), {
    kind: 'constant',
    name: 'variable3',
    title: 'Job',
    hide: 'nothing',
    inAddress: true,
    value: '',
  });
  t.is(convertVariable(before, 'no kind'), before);
});

test('a variable moves one position, and not beyond the ends', (t) => {
  t.deepEqual(moveItem(['a', 'b', 'c'], 2, -1), ['a', 'c', 'b']);
  t.deepEqual(moveItem(['a', 'b', 'c'], 0, -1), ['a', 'b', 'c']);
  t.deepEqual(moveItem(['a', 'b', 'c'], 2, 1), ['a', 'b', 'c']);
});

const lists: readonly (readonly [LineFormat<never>, string, unknown])[] = [
  [
    optionLines as LineFormat<never>,
    'one\ntwo | The second',
    [{ value: 'one' }, { value: 'two', title: 'The second' }],
  ],
  [
    filterLines as LineFormat<never>,
    'job=a\njob=b\nzone!~x=.*\nno condition',
    [
      { label: 'job', operator: '=', values: ['a', 'b'] },
      { label: 'zone', operator: '!~', values: ['x=.*'] },
      { label: 'no condition', operator: '=', values: [] },
    ],
  ],
];
for (const [lines, text, items] of lists)
  test(`lines convert to a list and back without a change: ${JSON.stringify(text)}`, (t) => {
    t.deepEqual(lines.parse(` \n${text}\n`), items as never);
    t.is(lines.format(items as never), text);
    t.true(isWritable(lines, items as never));
  });

test('values that lines cannot represent are detected', (t) => {
  for (const value of ['a\nb', ' a', '', 'a | b']) t.false(isWritable(optionLines, [{ value }]), value);
});
