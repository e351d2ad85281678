/** Query kind for aggregates over the records of a data source. */
import { runAggregate } from '../aggregate/aggregate.ts';
import { buildAggregations, getDefaultName } from '../aggregate/measures.ts';
import { maxAggregates, runAggregateBatch, toAggregateBatchKey } from '../batch/aggregates.ts';
import { getAggregateHint } from '../hints/result-hints.ts';
import { AggregateQuery, type Measure } from '../query.ts';
import { defineQueryKind, type SentenceParts, type TextChanges } from '../query-kind.ts';
import type { QuerySignal } from '../signals/index.ts';
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
  return `${measureTexts} of ${describeRecords(signal, search, parts)}${describeGroups(query)}`;
};

const additiveFunctions: readonly Measure['function'][] = ['count', 'sum', 'rate'];

export const aggregate = defineQueryKind<AggregateQuery>({
  schema: AggregateQuery,
  isFormulaPart: true,
  signals: ({ signal }) => [signal],
  run: runAggregate,
  batch: { max: maxAggregates, key: toAggregateBatchKey, run: runAggregateBatch },
  hasZeros: true,
  hint: getAggregateHint,
  inspect({ signal, search, measures, groupBy }, inspection) {
    inspection.search(search, signal, 'search');
    for (const [index, name] of groupBy.entries()) inspection.field(name, signal, `groupBy.${index}`);
    inspection.attempt(() => {
      buildAggregations(measures, signal, new ValueReader(signal));
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
  }),
  addFilters: (query, { search }) => ({ ...query, search: search(query.search, query.signal) }),
  groupBy: ({ groupBy }) => groupBy,
  measures: ({ measures }) => measures,
  countMatches: countRecords,
  splittable(query, measureName, limit) {
    const measure = query.measures.find((measure) => (measure.as ?? getDefaultName(measure)) === measureName);
    return measure !== undefined && additiveFunctions.includes(measure.function)
      ? { ...query, measures: [measure], order: undefined, limit }
      : 'only counts and sums can be split into contributions';
  },
  sentence: describeQuery,
});
