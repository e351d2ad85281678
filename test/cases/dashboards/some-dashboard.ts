/** Generates random valid dashboards. */
import fc from 'fast-check';
import { DashboardFields } from '../../../subjects/dashboards/document.ts';

const text = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.constantFrom('null', '~', 'true', '1e3', '0x10', '2026-11-24', '<<', '- a', '# b', 'a: b', '$x', '\n', ' a '),
);
const number = fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true })).map((value) => value + 0);
const id = fc.stringMatching(/^[a-z][a-z0-9-]{0,8}$/);

const fields = fc.record(
  {
    unit: text,
    min: number,
    decimals: fc.nat(20),
    thresholds: fc.record({
      steps: fc.array(fc.record({ value: fc.option(number), colour: fc.constantFrom('red', '#1f77b4') }), {
        maxLength: 3,
      }),
    }),
    mappings: fc.array(fc.record({ kind: fc.constant('value'), value: text, text }), { maxLength: 2 }),
    drawing: fc.record({ joinGaps: fc.oneof(fc.boolean(), fc.integer({ min: 1, max: 9 })) }),
  },
  { requiredKeys: [] },
);

const query = fc.oneof(
  fc.record({ kind: fc.constant('promql'), expression: text.filter((one) => one !== '') }),
  fc.record({ kind: fc.constant('rows'), signal: fc.constant('logs'), search: text }),
  fc.record({
    kind: fc.constant('aggregate'),
    signal: fc.constant('traces'),
    measures: fc.constant([{ function: 'count' }]),
    limit: fc.constantFrom(7, 100),
  }),
);

const visual = fc.oneof(
  fc.constantFrom({ kind: 'stat' }, { kind: 'gauge' }, { kind: 'logs', wraps: true }, { kind: 'table', paged: true }),
  fc.record({ kind: fc.constant('text'), content: text }),
  fc.record({
    kind: fc.constant('time-series'),
    legend: fc.record({ form: fc.constantFrom('list', 'table'), width: fc.option(fc.nat(400)) }),
  }),
);

const transformation = fc.oneof(
  fc.record({ kind: fc.constant('organize'), names: fc.dictionary(text, text, { maxKeys: 3 }) }),
  fc.record({ kind: fc.constant('limit'), rows: fc.constantFrom(3, 10) }),
  fc.constant({
    kind: 'calculate',
    calculation: { is: 'binary', left: { field: 'a' }, operator: '*', right: { value: 2 } },
  }),
);

const panel = fc.record(
  {
    title: text,
    visual,
    queries: fc.array(fc.record({ query, legend: text, hidden: fc.boolean() }), { maxLength: 3 }),
    transformations: fc.array(transformation, { maxLength: 2 }),
    fields,
    overrides: fc.array(fc.record({ match: fc.constant({ by: 'type', type: 'time' }), settings: fields }), {
      maxLength: 2,
    }),
    time: fc.constantFrom({}, { range: '5m' }),
    imported: fc.record({ from: fc.constant('grafana'), unmapped: fc.dictionary(id, fc.jsonValue(), { maxKeys: 3 }) }),
  },
  { requiredKeys: ['visual'] },
);

/** A dashboard in the current format, as it is stored. */
export const someDashboard = fc
  .record(
    {
      name: text.filter((one) => one !== ''),
      description: text,
      tags: fc.array(
        text.filter((one) => one !== ''),
        { maxLength: 3 },
      ),
      visibility: fc.constantFrom('private', 'organization'),
      time: fc.constantFrom({}, { from: 'now-6h' }, { zone: 'Europe/Berlin', refresh: '30s' }),
      variables: fc.array(fc.record({ kind: fc.constantFrom('text'), selected: text }), { maxLength: 3 }),
      panels: fc.array(panel, { maxLength: 4 }),
      cursor: fc.constantFrom('none', 'line'),
    },
    { requiredKeys: ['name'] },
  )
  .map(({ variables = [], panels = [], ...rest }) =>
    DashboardFields.parse({
      ...rest,
      variables: variables.map((one, at) => ({ ...one, name: `v${at}` })),
      panels: panels.map(({ queries = [], ...one }, at) => ({
        ...one,
        id: `p${at}`,
        queries: queries.map((each, index) => ({ ...each, name: `Q${index}` })),
      })),
    }),
  )
  // Stored documents are serialized to JSON.
  .map((document) => JSON.parse(JSON.stringify(document)) as DashboardFields);
