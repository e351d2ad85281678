/** Transformations of a panel's tables, in both directions. */

import { type Fields, isFields } from '../../../runtime/fields.ts';
import { Transformation } from '../../../schemas/dashboards/transformations.ts';
import { readCalculation, writeCalculation } from './calculations.ts';
import { type Ledger, toFieldsList } from './ledger.ts';
import {
  createListLens,
  flag,
  integer,
  type Lens,
  nameCodec,
  readLenses,
  sameNames,
  text,
  writeLenses,
} from './lens.ts';
import { reducer } from './reducers.ts';
import { readRowFilter, writeRowFilter } from './row-conditions.ts';

type OiqTransformation = Fields & { readonly kind: string };

interface TransformationForm {
  readonly id: string;
  /** Names in older versions. */
  readonly formerId?: string;
  readonly kind: string;
  readonly lenses?: readonly Lens[];
  /** Converter for settings beyond the table. Returns undefined if there is no equivalent. */
  readonly read?: (options: Fields, ledger: Ledger) => Fields | undefined;
  readonly write?: (ours: OiqTransformation) => Fields;
}

const field = text(1024);
const fields = createListLens(field, 1000);
const isNonEmptyFields = (value: unknown): value is Fields => isFields(value) && Object.keys(value).length > 0;

const readOrganize = (options: Fields, ledger: Ledger): Fields => {
  const { excludeByName, indexByName, renameByName } = options;
  const entries = (holder: unknown): [string, unknown][] => (isFields(holder) ? Object.entries(holder) : []);
  const hidden = entries(excludeByName).flatMap(([name, isExcluded]) => {
    if (isExcluded === true && name !== '') ledger.carry(excludeByName as Fields, name);
    else ledger.markDefault(excludeByName as Fields, name);
    return isExcluded === true && name !== '' ? [name] : [];
  });
  const order = entries(indexByName)
    .filter(([name, index]) => Number.isFinite(index) && name !== '')
    .toSorted(([, left], [, right]) => Number(left) - Number(right))
    .map(([name]) => name);
  if (isFields(indexByName)) ledger.carry(indexByName, ...order);
  const renamed = entries(renameByName).filter(([, name]) => typeof name === 'string' && name !== '');
  if (isFields(renameByName)) ledger.carry(renameByName, ...renamed.map(([name]) => name));
  return { hidden, order, names: Object.fromEntries(renamed) };
};

const readGroups = (options: Fields, ledger: Ledger): Fields | undefined => {
  const groupFields = options['fields'];
  if (!isNonEmptyFields(groupFields)) return undefined;
  const by: string[] = [];
  const calculations: object[] = [];
  for (const [name, fieldOptions] of Object.entries(groupFields)) {
    if (!isFields(fieldOptions) || name === '') continue;
    const { operation, aggregations } = fieldOptions;
    if (operation === 'groupby') {
      by.push(name);
      ledger.carry(fieldOptions, 'operation');
    }
    const reducers = createListLens(reducer, 32).read(aggregations) as readonly unknown[] | undefined;
    if (operation !== 'aggregate' || reducers === undefined || reducers.length === 0) continue;
    calculations.push({ field: name, reducers });
    ledger.carry(fieldOptions, 'operation', 'aggregations');
  }
  return by.length === 0 ? undefined : { by, figures: calculations };
};

const writeGroups = ({ by, figures: calculations }: OiqTransformation): Fields => ({
  fields: Object.fromEntries([
    ...(by as readonly string[]).map((name) => [name, { operation: 'groupby', aggregations: [] }]),
    ...(calculations as readonly Fields[]).map((aggregation) => [
      aggregation['field'],
      { operation: 'aggregate', aggregations: createListLens(reducer, 32).write(aggregation['reducers']) },
    ]),
  ]),
});

/** Query names in Grafana's matcher syntax: one, or several between slashes. */
const readQueries = (value: unknown): string[] | undefined => {
  if (typeof value !== 'string') return undefined;
  const [, alternatives] = /^\/\^(?:\(\?:)?([\w| -]+)\)?\$\/$/.exec(value) ?? [];
  const queryNames = (alternatives ?? value).split('|');
  return queryNames.every((name) => /^[\w -]{1,64}$/.test(name)) ? queryNames : undefined;
};
const writeQueries = (queryNames: readonly string[]): string =>
  queryNames.length === 1 ? (queryNames[0] ?? '') : `/^(?:${queryNames.join('|')})$/`;

const readTrend = (options: Fields, ledger: Ledger): Fields => {
  const calculations: Record<string, unknown> = {};
  for (const [query, trendOptions] of Object.entries(options)) {
    if (!isFields(trendOptions) || query === '' || query.length > 64) continue;
    const trendReducer = trendOptions['stat'] === undefined ? undefined : reducer.read(trendOptions['stat']);
    if (trendReducer !== undefined) {
      calculations[query] = trendReducer;
      ledger.carry(trendOptions, 'stat');
    }
    if (trendOptions['timeField'] === 'Time') ledger.markDefault(trendOptions, 'timeField');
  }
  return { figures: calculations };
};

const forms: readonly TransformationForm[] = [
  {
    id: 'organize',
    kind: 'organize',
    read: readOrganize,
    write: ({ hidden, order, names: renamed }) => ({
      excludeByName: Object.fromEntries((hidden as readonly string[]).map((name) => [name, true])),
      indexByName: Object.fromEntries((order as readonly string[]).map((name, index) => [name, index])),
      renameByName: renamed,
    }),
  },
  { id: 'merge', kind: 'merge' },
  {
    id: 'joinByField',
    formerId: 'seriesToColumns',
    kind: 'join-by-field',
    lenses: [
      ['byField', 'field', field],
      ['mode', 'mode', nameCodec({ outer: 'outer', inner: 'inner', outerTabular: 'outer-tabular' })],
    ],
  },
  {
    id: 'joinByLabels',
    kind: 'join-by-labels',
    lenses: [
      ['value', 'value', field],
      ['join', 'join', createListLens(field, 100)],
    ],
  },
  { id: 'groupBy', kind: 'group-by', read: readGroups, write: writeGroups },
  {
    id: 'calculateField',
    kind: 'calculate',
    lenses: [
      ['alias', 'as', field],
      ['replaceFields', 'replaces', flag],
    ],
    read: readCalculation,
    write: writeCalculation,
  },
  {
    id: 'filterFieldsByName',
    kind: 'filter-fields',
    lenses: [
      ['include.names', 'keep.names', fields],
      ['include.pattern', 'keep.pattern', field],
      ['exclude.names', 'drop.names', fields],
      ['exclude.pattern', 'drop.pattern', field],
    ],
  },
  {
    id: 'filterByValue',
    kind: 'filter-rows',
    lenses: [
      ['type', 'action', nameCodec({ include: 'keep', exclude: 'drop' })],
      ['match', 'match', sameNames('all', 'any')],
    ],
    read: readRowFilter,
    write: writeRowFilter,
  },
  {
    id: 'filterByRefId',
    kind: 'filter-queries',
    read: (options, ledger) => {
      const include = readQueries(options['include']);
      if (include === undefined) return undefined;
      ledger.carry(options, 'include');
      return { keep: include };
    },
    write: ({ keep: include }) => ({ include: writeQueries(include as readonly string[]) }),
  },
  {
    id: 'renameByRegex',
    kind: 'rename',
    lenses: [
      ['regex', 'pattern', field],
      ['renamePattern', 'replacement', field],
    ],
  },
  {
    id: 'reduce',
    kind: 'reduce',
    lenses: [
      ['reducers', 'reducers', createListLens(reducer, 32)],
      ['mode', 'to', nameCodec({ seriesToRows: 'rows', reduceFields: 'fields' })],
      ['labelsToFields', 'labelsToFields', flag],
      ['includeTimeField', 'includesTime', flag],
    ],
  },
  {
    id: 'sortBy',
    kind: 'sort',
    read: (options, ledger) => {
      const [first] = toFieldsList(options['sort']);
      if (first === undefined || typeof first['field'] !== 'string' || first['field'] === '') return undefined;
      ledger.carry(first, 'field', 'desc');
      return { by: first['field'], direction: first['desc'] === true ? 'descending' : 'ascending' };
    },
    write: ({ by, direction }) => ({ fields: {}, sort: [{ field: by, desc: direction === 'descending' }] }),
  },
  {
    id: 'labelsToFields',
    kind: 'labels-to-fields',
    lenses: [
      ['mode', 'to', sameNames('columns', 'rows')],
      ['keepLabels', 'keep', fields],
      ['valueLabel', 'nameFrom', field],
    ],
  },
  { id: 'seriesToRows', kind: 'series-to-rows' },
  {
    id: 'timeSeriesTable',
    kind: 'trend',
    read: readTrend,
    write: ({ figures: calculations }) =>
      Object.fromEntries(
        Object.entries(calculations as Fields).map(([query, one]) => [query, { stat: reducer.write(one) }]),
      ),
  },
  {
    id: 'extractFields',
    kind: 'extract',
    lenses: [
      ['source', 'field', field],
      ['format', 'format', nameCodec({ auto: 'auto', json: 'json', kvp: 'pairs', regexp: 'pattern' })],
      ['keepTime', 'keepsTime', flag],
      ['replace', 'replaces', flag],
    ],
    read: (options, ledger) => {
      const [, pattern] = /^\/(.+)\/$/s.exec(String(options['regExp'])) ?? [];
      if (pattern !== undefined) ledger.carry(options, 'regExp');
      const paths = toFieldsList(options['jsonPaths']).filter(({ path }) => typeof path === 'string' && path !== '');
      for (const path of paths) ledger.carry(path, 'path', 'alias');
      return {
        ...(pattern !== undefined && { pattern }),
        paths: paths.map(({ path, alias }) => ({ path, ...(typeof alias === 'string' && { as: alias }) })),
      };
    },
    write: ({ pattern, paths }) => ({
      ...(pattern !== undefined && { regExp: `/${String(pattern)}/` }),
      ...((paths as readonly object[]).length > 0 && {
        jsonPaths: (paths as readonly Fields[]).map(({ path, as }) => ({
          path,
          ...(as !== undefined && { alias: as }),
        })),
      }),
    }),
  },
  {
    id: 'convertFieldType',
    kind: 'convert',
    read: (options, ledger) => {
      const lenses: readonly Lens[] = [
        ['targetField', 'field', field],
        [
          'destinationType',
          'to',
          nameCodec({ number: 'number', string: 'text', boolean: 'boolean', time: 'time', other: 'json' }),
        ],
        ['dateFormat', 'format', text(128)],
        ['timezone', 'zone', text(64)],
      ];
      const conversions = toFieldsList(options['conversions']).map((conversion) =>
        readLenses(lenses, conversion, ledger),
      );
      return conversions.length === 0 ? undefined : { conversions };
    },
    write: ({ conversions }) => ({
      fields: {},
      conversions: (conversions as readonly Fields[]).map((conversion) => ({
        targetField: conversion['field'],
        destinationType: { number: 'number', text: 'string', boolean: 'boolean', time: 'time', json: 'other' }[
          String(conversion['to'])
        ],
        ...(conversion['format'] !== undefined && { dateFormat: conversion['format'] }),
        ...(conversion['zone'] !== undefined && { timezone: conversion['zone'] }),
      })),
    }),
  },
  { id: 'limit', kind: 'limit', lenses: [['limitField', 'rows', integer(0, 100_000)]] },
];

const byId = new Map(
  forms.flatMap((form) => [form.id, ...(form.formerId === undefined ? [] : [form.formerId])].map((id) => [id, form])),
);
const byKind = new Map(forms.map((form) => [form.kind, form]));

const readTransformation = (source: Fields, ledger: Ledger): object | undefined => {
  const form = byId.get(String(source['id']));
  if (form === undefined) return undefined;
  const options = isFields(source['options']) ? source['options'] : {};
  const queries = readFilter(source['filter'], ledger);
  const read = { ...readLenses(form.lenses ?? [], options, ledger), ...form.read?.(options, ledger) };
  const parsed = Transformation.safeParse({
    kind: form.kind,
    ...(source['disabled'] === true && { off: true }),
    ...(queries !== undefined && { queries }),
    ...read,
  });
  if (!parsed.success) return undefined;
  ledger.carry(source, 'id', 'disabled');
  return parsed.data;
};

const readFilter = (filter: unknown, ledger: Ledger): string[] | undefined => {
  const queries = isFields(filter) && filter['id'] === 'byRefId' ? readQueries(filter['options']) : undefined;
  if (queries !== undefined) ledger.carry(filter as Fields, 'id', 'options');
  return queries;
};

/** Converts supported transformations. Others are reported and not converted. */
export const readTransformations = (list: unknown, ledger: Ledger): object[] =>
  toFieldsList(list)
    .slice(0, 64)
    .flatMap((source) => {
      const read = readTransformation(source, ledger);
      if (read === undefined) ledger.clearMarks(source);
      return read ?? [];
    });

export const writeTransformations = (all: readonly Transformation[]): Fields[] =>
  all.map((ours) => {
    const form = byKind.get(ours.kind) as TransformationForm;
    const { off, queries } = ours;
    return {
      id: form.id,
      options: { ...writeLenses(form.lenses ?? [], ours), ...form.write?.(ours as unknown as OiqTransformation) },
      ...(off && { disabled: true }),
      ...(queries !== undefined && { filter: { id: 'byRefId', options: writeQueries(queries) } }),
    };
  });
