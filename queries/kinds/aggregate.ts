/** Query kind for aggregates over the records of a data source. */

import { resolveReference } from '../../schemas/fields.ts';
import { resolveHavingIndex, runAggregate } from '../aggregate/aggregate.ts';
import { buildAggregations, getMeasureName } from '../aggregate/measures.ts';
import { maxAggregates, runAggregateBatch, toAggregateBatchKey } from '../batch/aggregates.ts';
import { describeHaving } from '../having.ts';
import { getAggregateHint } from '../hints/result-hints.ts';
import { AggregateQuery, type Measure } from '../query.ts';
import { defineQueryKind, type SentenceParts, type TextChanges } from '../query-kind.ts';
import { formatShort } from '../round-numbers.ts';
import { type QuerySignal, signalDefinitions } from '../signals/index.ts';
import { ValueReader } from '../values.ts';
import { changeSearch, countRecords, describeGroups, describeRecords, joinList } from './conditions.ts';

const changeMeasure = (measure: Measure, { search, text }: TextChanges): Measure => {
  const { field, ...rest } = changeSearch(measure, search);
  return field === undefined ? rest : { ...rest, field: text(field) };
};

const functionNames: Readonly<Record<Exclude<Measure['function'], 'percentile' | 'count' | 'rate'>, string>> = {
  distinct: 'number of distinct values of',
  sum: 'sum of',
  avg: 'average of',
  min: 'minimum of',
  max: 'maximum of',
};

const describeMeasure = (
  { function: name, field, percentile, search }: Measure,
  signal: QuerySignal,
  parts: SentenceParts,
): string => {
  const conditionText = search === undefined ? '' : ` of those where ${parts.search(search, signal)}`;
  if (name === 'count') return `number${field === undefined ? '' : ` with ${field}`}${conditionText}`;
  if (name === 'rate') return `number per second${conditionText}`;
  return `${name === 'percentile' ? `${percentile}th percentile of` : functionNames[name]} ${field}${conditionText}`;
};

const describeQuery = (query: AggregateQuery, parts: SentenceParts): string => {
  const { signal, search, measures } = query;
  const [measure] = measures;
  // The condition of a single measure is displayed with the conditions of all records.
  if (measure?.search !== undefined && measures.length === 1) {
    const { search: measureSearch, ...measureWithoutSearch } = measure;
    const conditions = search === undefined ? measureSearch : `(${search}) (${measureSearch})`;
    return describeQuery({ ...query, measures: [measureWithoutSearch], search: conditions }, parts);
  }
  const measureTexts = joinList(measures.map((measure) => describeMeasure(measure, signal, parts)));
  return `${measureTexts} of ${describeRecords(signal, search, parts)}${describeGroups(query)}${describeCondition(query)}`;
};

/** Describes the condition on the values of groups. */
const describeCondition = ({ having, measures, signal }: AggregateQuery): string => {
  if (having === undefined) return '';
  const { measure: name = getMeasureName(measures[0] as Measure) } = having;
  const { function: measureFunction, field } = measures.find((each) => getMeasureName(each) === name) ?? {};
  const reference = field === undefined ? undefined : resolveReference(signalDefinitions[signal].fields, field);
  const isDuration =
    reference?.kind === 'field' && reference.field.type === 'duration' && measureFunction !== 'distinct';
  const text = describeHaving(having, isDuration ? formatNanoseconds : String);
  return measures.length === 1 ? text : text.replace(', only', `, only with ${name}`);
};

const formatNanoseconds = (ns: number): string =>
  ns >= 1e9 ? `${formatShort(ns / 1e9)} s` : `${formatShort(ns / 1e6)} ms`;

const additiveFunctions: readonly Measure['function'][] = ['count', 'sum', 'rate'];

export const aggregate = defineQueryKind<AggregateQuery>({
  schema: AggregateQuery,
  isFormulaPart: true,
  signals: ({ signal }) => [signal],
  run: runAggregate,
  batch: { max: maxAggregates, key: toAggregateBatchKey, run: runAggregateBatch },
  hasZeros: true,
  hint: getAggregateHint,
  inspect({ signal, search, measures, groupBy, having }, inspection) {
    inspection.search(search, signal, 'search');
    for (const [index, name] of groupBy.entries()) inspection.field(name, signal, `groupBy.${index}`);
    inspection.attempt(() => {
      const aggregations = buildAggregations(measures, signal, new ValueReader(signal));
      if (having !== undefined) resolveHavingIndex(having, aggregations);
      for (const [index, measure] of measures.entries()) {
        if (measure.field !== undefined) inspection.field(measure.field, signal, `measures.${index}.field`);
        inspection.search(measure.search, signal, `measures.${index}.search`);
      }
    });
  },
  formulaProblem: ({ measures }) =>
    measures.length === 1 ? undefined : [['measures'], 'must have one measure: a formula reads one value of a query'],
  limitGroups: (query, limit) => ({ ...query, limit }),
  changeTexts: (query, changes) => ({
    ...changeSearch(query, changes.search),
    measures: query.measures.map((measure) => changeMeasure(measure, changes)),
    groupBy: changes.names(query.groupBy),
    ...(query.order === undefined ? {} : { order: { ...query.order, by: changes.text(query.order.by) } }),
    ...(query.having?.measure === undefined
      ? {}
      : { having: { ...query.having, measure: changes.text(query.having.measure) } }),
  }),
  addFilters: (query, { search }) => ({ ...query, search: search(query.search, query.signal) }),
  groupBy: ({ groupBy }) => groupBy,
  measures: ({ measures }) => measures,
  countMatches: countRecords,
  splittable(query, measureName, limit) {
    const measure = query.measures.find((measure) => getMeasureName(measure) === measureName);
    return measure !== undefined && additiveFunctions.includes(measure.function)
      ? { ...query, measures: [measure], order: undefined, having: undefined, limit }
      : 'only counts and sums can be split into contributions';
  },
  sentence: describeQuery,
});
