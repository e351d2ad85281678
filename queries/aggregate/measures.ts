/** Aggregate functions over records, as SQL. */
import type { Reference } from '../../schemas/fields.ts';
import { createValidationError } from '../errors.ts';
import type { Measure } from '../query.ts';
import type { TableColumn } from '../result.ts';
import { roundNoise } from '../round-numbers.ts';
import { buildSearchCondition } from '../search/condition.ts';
import { parseSearch } from '../search/parse.ts';
import { getSignalRecords, type QuerySignal } from '../signals/index.ts';
import { formatTime } from '../time.ts';
import type { Value, ValueReader } from '../values.ts';

/** One aggregate as part of a statement. */
export interface Aggregation {
  readonly name: string;
  /** Returns the aggregate function, with `suffix` after its name: `State` and `Merge` for two-step aggregation. */
  callSql(suffix: '' | 'State'): string;
  mergeSql(state: string): string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly column: TableColumn;
  /** Result of ClickHouse if there are no records. */
  readonly emptyResult: 0 | null;
  /**
   * Converts ClickHouse's result for a step of `seconds`; null if there is no value. In the form `series`, times are
   * numbers.
   */
  toValue(result: unknown, seconds: number, form: 'table' | 'series'): number | string | null;
}

/** Returns the name of a measure in results: its own, or one by function and field. */
export const getMeasureName = (measure: Measure): string => measure.as ?? getDefaultName(measure);

const getDefaultName = ({ function: kind, field, percentile }: Measure): string => {
  const prefix = kind === 'percentile' ? `p${String(percentile).replace('.', '_')}` : kind;
  return field === undefined ? prefix : `${prefix}_${field}`;
};

const numericFunctions = new Set<Measure['function']>(['sum', 'avg', 'min', 'max', 'percentile']);

const parseFiniteNumber = (result: unknown): number | null => {
  if (result === null || result === undefined) return null;
  const number = Number(result);
  return Number.isFinite(number) ? number : null;
};

/** Restricts an aggregate to some of the statement's records: an SQL condition, and the prefix of its parameters. */
export interface AggregationFilter {
  readonly sql: string | undefined;
  readonly prefix: string;
}

/**
 * Returns the aggregates of a query. Throws `VALIDATION_FAILED` if one lacks an argument of its function, or two have
 * the same name.
 */
export const buildAggregations = (
  measures: readonly Measure[],
  signal: QuerySignal,
  values: ValueReader,
  part: AggregationFilter = { sql: undefined, prefix: '' },
): Aggregation[] => {
  const aggregations = measures.map((measure, index) => buildAggregation(measure, { signal, values, index, part }));
  for (const [index, { name }] of aggregations.entries())
    if (aggregations.findIndex((other) => other.name === name) < index)
      throw createValidationError(`measures.${index}.as`, `another measure is named ${name}: use distinct names`);
  return aggregations;
};

interface AggregationContext {
  readonly signal: QuerySignal;
  readonly values: ValueReader;
  readonly index: number;
  readonly part: AggregationFilter;
}

const buildAggregation = (measure: Measure, { signal, values, index, part }: AggregationContext): Aggregation => {
  const path = `measures.${index}`;
  const { function: kind, field, percentile } = measure;
  if (field === undefined && kind !== 'count' && kind !== 'rate')
    throw createValidationError(`${path}.field`, `is required for ${kind}`);
  if (kind === 'percentile' && percentile === undefined)
    throw createValidationError(`${path}.percentile`, 'is required for percentile, such as 95');
  const value = field === undefined ? undefined : values.getValue(field);
  const isTime = value !== undefined && numericFunctions.has(kind) && getFieldType(value.reference) === 'time';
  if (isTime && kind !== 'min' && kind !== 'max')
    throw createValidationError(`${path}.function`, `must be min or max for ${field}, which is a time`);
  const condition = buildCondition(measure, { signal, values, index, part });
  const { counted } = getSignalRecords(signal);
  const weight = counted === undefined ? undefined : values.addColumn(counted);
  const { name, argument } = buildFunction(measure, value, condition.sql, weight);
  const level = kind === 'percentile' ? `(${(percentile ?? 0) / 100})` : '';
  return {
    name: getMeasureName(measure),
    callSql: (suffix) => `${name}${suffix}${level}(${argument})`,
    mergeSql: (state) => `${name}Merge${level}(${state})`,
    parameters: condition.parameters,
    emptyResult: numericFunctions.has(kind) ? null : 0,
    column: { name: getMeasureName(measure), ...resolveTypeAndUnit(measure, value, signal) },
    toValue(result, seconds, as) {
      if (isTime) return result === null ? null : formatTimeResult(String(result), as);
      const number = parseFiniteNumber(result);
      if (number === null || kind === 'min' || kind === 'max') return number;
      return roundNoise(kind === 'rate' ? number / seconds : number);
    },
  };
};

/** Returns a time; in series, as epoch milliseconds, because points are numbers. */
const formatTimeResult = (nanoseconds: string, as: 'table' | 'series'): number | string =>
  as === 'table' ? formatTime(BigInt(nanoseconds)) : Number(BigInt(nanoseconds) / 1_000_000n);

const getFieldType = (reference: Reference): string | undefined =>
  reference.kind === 'field' ? reference.field.type : undefined;

const resolveTypeAndUnit = (
  { function: kind }: Measure,
  value: Value | undefined,
  signal: QuerySignal,
): Pick<TableColumn, 'type' | 'unit'> => {
  const type = value === undefined ? undefined : getFieldType(value.reference);
  if (kind === 'count') return { type: 'number', unit: getSignalRecords(signal).unit };
  if (kind === 'rate') return { type: 'number', unit: `${getSignalRecords(signal).unit}/s` };
  if (kind === 'distinct') return { type: 'number', unit: '{value}' };
  if (type === 'duration') return { type: 'duration', unit: 'ns' };
  return type === 'time' ? { type: 'time', unit: 'ms' } : { type: 'number', unit: '' };
};

/** Returns the condition of a measure: its own search, as a column of 0 and 1, and the existence of its field. */
const buildCondition = (
  { search, function: kind, field }: Measure,
  { signal, values, index, part }: AggregationContext,
): { sql: string | undefined; parameters: Readonly<Record<string, string>> } => {
  const conditions = part.sql === undefined ? [] : [part.sql];
  let parameters: Readonly<Record<string, string>> = {};
  if (search !== undefined) {
    const tree = parseSearch(search, signal, { path: `measures.${index}.search` });
    const condition = buildSearchCondition(tree, signal, { prefix: `${part.prefix}m${index}_` });
    conditions.push(values.addColumn(`toBool(${condition.sql})`));
    parameters = condition.parameters;
  }
  if (field !== undefined && !numericFunctions.has(kind)) conditions.push(values.getValue(field).exists);
  return { sql: conditions.length === 0 ? undefined : `(${conditions.join(' AND ')})`, parameters };
};

/**
 * Returns the SQL function and its argument. Excluded values are NULL, which no function counts: the aggregate of no
 * values is NULL, not 0.
 */
const buildFunction = (
  { function: kind }: Measure,
  value: Value | undefined,
  condition: string | undefined,
  weight: string | undefined,
): { name: string; argument: string } => {
  if ((kind === 'count' || kind === 'rate') && weight !== undefined)
    return condition === undefined
      ? { name: 'sum', argument: weight }
      : { name: 'sumIf', argument: `${weight}, ${condition}` };
  if (kind === 'count' || kind === 'rate')
    return condition === undefined ? { name: 'count', argument: '' } : { name: 'countIf', argument: condition };
  if (kind === 'distinct') return { name: 'uniqExactIf', argument: `${value?.text}, ${condition}` };
  const number = value?.number ?? 'NULL';
  const name = kind === 'percentile' ? 'quantileExactInclusive' : kind;
  return { name, argument: condition === undefined ? number : `if(${condition}, ${number}, NULL)` };
};
