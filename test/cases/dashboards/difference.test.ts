/** The difference between two versions, in words. */
import '../../../subjects/query-kinds.ts';
import test from 'ava';
import fc from 'fast-check';
import { findDashboardDifferences } from '../../../subjects/dashboards/difference.ts';
import { DashboardFields } from '../../../subjects/dashboards/document.ts';
import { newPanelId } from '../../../subjects/dashboards/ids.ts';
import { wholeDashboard } from './dashboard-example.ts';

const whole = DashboardFields.parse(wholeDashboard);
const [errors, notes] = whole.panels as [DashboardFields['panels'][number], DashboardFields['panels'][number]];

/** Returns the difference for a change of the example: path, words, old and new value. */
const differenceOf = (change: (document: DashboardFields) => object) =>
  findDashboardDifferences(whole, DashboardFields.parse(change(whole))).map(({ path, what, before, after }) => [
    path,
    what,
    before,
    after,
  ]);
const panelled = (change: Partial<typeof errors>) => (document: DashboardFields) => ({
  ...document,
  panels: [{ ...errors, ...change }, notes],
});

test('an added, removed, renamed, moved or resized panel is reported by its title', (t) => {
  const added = { id: 'new', title: 'New', visual: { kind: 'stat' } };
  t.like(
    differenceOf((document) => ({ ...document, panels: [...document.panels, added] })),
    [['panels.new', 'panel “New” added', null]],
  );
  t.deepEqual(
    differenceOf((document) => ({ ...document, panels: [errors] })),
    [['panels.notes', 'panel “Notes” removed', notes, null]],
  );
  t.deepEqual(differenceOf(panelled({ title: 'Faults' })), [
    ['panels.errors.title', 'panel “Errors of $service” renamed', 'Errors of $service', 'Faults'],
  ]);
  const place = { ...errors.place, x: 12 };
  t.deepEqual(differenceOf(panelled({ place })), [
    ['panels.errors.place', 'panel “Errors of $service” moved', errors.place, place],
  ]);
  const resized = { ...errors.place, height: 4 };
  t.is(differenceOf(panelled({ place: resized }))[0]?.[1], 'panel “Errors of $service” resized');
});

test('a query change shows the old and the new query', (t) => {
  const [first, ...others] = errors.queries;
  const queries = [{ ...first, query: { kind: 'promql', expression: 'up' } }, ...others] as typeof errors.queries;
  t.deepEqual(differenceOf(panelled({ queries })), [
    [
      'panels.errors.queries.A.query.expression',
      'panel “Errors of $service”: query A: expression changed',
      'sum(rate(errors_total{service="$service"}[5m]))',
      'up',
    ],
  ]);
});

test('a query named like a property of every object is reported by its name', (t) => {
  const [first, ...others] = errors.queries;
  const formula = (expression: string) => ({
    ...errors,
    queries: [
      {
        ...first,
        query: { kind: 'formula', expression: 'constructor', queries: { constructor: { kind: 'promql', expression } } },
      },
      ...others,
    ],
  });
  const [before, after] = ['up', 'down'].map((expression) =>
    DashboardFields.parse({ ...whole, panels: [formula(expression), notes] }),
  );
  t.like(findDashboardDifferences(before as DashboardFields, after as DashboardFields), [
    { what: 'panel “Errors of $service”: query A: queries: constructor: expression changed' },
  ]);
});

test('changes of unit, thresholds, overrides and variables are reported by name', (t) => {
  const of = (fields: object) => differenceOf(panelled({ fields: { ...errors.fields, ...fields } }));
  t.deepEqual(of({ unit: 's' }), [['panels.errors.fields.unit', 'panel “Errors of $service”: unit changed', '%', 's']]);
  t.deepEqual(
    of({ thresholds: undefined }).map(([path, what]) => [path, what]),
    [['panels.errors.fields.thresholds', 'panel “Errors of $service”: thresholds removed']],
  );
  t.is(
    differenceOf(panelled({ overrides: errors.overrides.slice(1) }))[0]?.[1],
    'panel “Errors of $service”: override of pattern “.*5xx” removed',
  );
  const variables = whole.variables.map((one) => (one.name === 'service' ? { ...one, label: 'job' } : one));
  t.deepEqual(
    differenceOf((document) => ({ ...document, variables })),
    [['variables.service.label', 'variable service: label changed', 'http_route', 'job']],
  );
});

test('changes of the dashboard’s own fields are reported without a prefix', (t) => {
  t.deepEqual(
    differenceOf((document) => ({ ...document, name: 'Shop', time: { ...document.time, from: 'now-1h' } })),
    [
      ['name', 'dashboard renamed', 'Checkout', 'Shop'],
      ['time.from', 'time: from changed', 'now-6h', 'now-1h'],
    ],
  );
});

test('key order and explicit defaults are not reported as a difference', (t) => {
  const reversed = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(reversed);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .reverse()
        .map(([name, member]) => [name, reversed(member)]),
    );
  };
  t.deepEqual(
    differenceOf((document) => reversed(document) as object),
    [],
  );
  t.deepEqual(
    findDashboardDifferences(
      DashboardFields.parse({ name: 'x' }),
      DashboardFields.parse({ ...DashboardFields.parse({ name: 'x' }) }),
    ),
    [],
  );
  t.deepEqual(
    differenceOf(() => wholeDashboard),
    [],
  );
});

test('a generated id is not reported as a difference, a chosen id is', (t) => {
  const renamed = (id: string) => (document: DashboardFields) => ({ ...document, panels: [errors, { ...notes, id }] });
  t.deepEqual(differenceOf(renamed(newPanelId())), []);
  t.deepEqual(
    differenceOf(renamed('remarks')).map(([path]) => path),
    ['panels.notes', 'panels.remarks'],
  );
});

test('a different panel order is one difference', (t) => {
  t.deepEqual(
    differenceOf((document) => ({ ...document, panels: [notes, errors] })),
    [['panels', 'panels reordered', ['errors', 'notes'], ['notes', 'errors']]],
  );
});

const panelOf = fc.record({
  title: fc.constantFrom('a', 'b', ''),
  place: fc.record({ x: fc.integer({ min: 0, max: 12 }), width: fc.integer({ min: 1, max: 12 }) }),
  fields: fc.record(
    { unit: fc.constantFrom('s', '%'), decimals: fc.integer({ min: 0, max: 3 }) },
    { requiredKeys: [] },
  ),
  visual: fc.constantFrom({ kind: 'stat' }, { kind: 'text', content: 'x' }),
  queries: fc.uniqueArray(fc.record({ name: fc.constantFrom('A', 'B'), savedQueryId: fc.constantFrom('x', 'y') }), {
    selector: ({ name }) => name,
  }),
});
const documents = fc
  .record({
    name: fc.constantFrom('a', 'b'),
    tags: fc.array(fc.constantFrom('x', 'y'), { maxLength: 2 }),
    panels: fc.dictionary(fc.constantFrom('p', 'q', 'r'), panelOf),
  })
  .map(({ panels, ...rest }) =>
    DashboardFields.parse({ ...rest, panels: Object.entries(panels).map(([id, panel]) => ({ id, ...panel })) }),
  );

test('two documents have no differences exactly if they are equal, and each path is reported once', (t) => {
  fc.assert(
    fc.property(documents, documents, (before, after) => {
      const differences = findDashboardDifferences(before, after);
      t.is(differences.length === 0, JSON.stringify(before) === JSON.stringify(after));
      t.is(new Set(differences.map(({ path }) => path)).size, differences.length);
      for (const { before: former, after: latter } of differences) t.notDeepEqual(former, latter);
    }),
    { numRuns: 300 },
  );
});
