/** Queries telemetry for the texts of a variable's values. */

import { maxValues } from '../../schemas/dashboards/variables.ts';
import { createValidationError } from '../errors.ts';
import { readTopValues } from '../fields/values.ts';
import { compilePattern } from '../patterns.ts';
import { type LabelQuery, readLabelNames, readLabelValues } from '../promql/fetch/label-reads.ts';
import { getRetentionStartMs } from '../promql/fetch/scope.ts';
import type { QueryReader } from '../promql/query-reader.ts';
import { toQueryError } from '../promql/run-promql.ts';
import { parseSelector } from '../promql/syntax/parse.ts';
import { quoteText } from '../promql/syntax/quotes.ts';
import { type Range, restrictToRetention } from '../range.ts';
import type { Incompleteness } from '../result.ts';
import { extendColumns, runWithoutCost } from '../run.ts';
import { replaceInPromql } from './in-promql.ts';
import { replaceInSearch } from './in-search.ts';
import { replaceInText } from './in-text.ts';
import type { QueryVariable } from './options.ts';
import type { Scope } from './scope.ts';

/** Scope of the queries. */
export interface ValuesRequest {
  readonly range: Range;
  readonly projectId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface VariableTexts {
  readonly texts: readonly string[];
  readonly partial: readonly Incompleteness[];
}

const toMilliseconds = (nanoseconds: bigint): number => Number(nanoseconds / 1_000_000n);

const buildLabelsQuery = (
  match: string | undefined,
  reader: QueryReader,
  { range, projectId, signal }: ValuesRequest,
): LabelQuery => {
  const { columns, promql, plan, nowMs } = reader;
  if (promql === undefined) throw createValidationError('variables', 'labels cannot be queried here');
  return {
    scope: {
      columns: signal === undefined ? columns : extendColumns(columns, signal),
      translation: promql.translation,
      projectId,
    },
    window: {
      fromMs: Math.max(getRetentionStartMs(plan, nowMs), toMilliseconds(range.from)),
      toMs: toMilliseconds(range.to),
    },
    matcherSets: match === undefined ? [] : [parseSelector(match)],
  };
};

const toCompleteTexts = (texts: readonly string[]): VariableTexts => ({ texts, partial: [] });

const queryFieldValues = async (
  { field, search, signal }: { field: string; search: string | undefined; signal: 'logs' | 'traces' },
  reader: QueryReader,
  request: ValuesRequest,
): Promise<VariableTexts> => {
  const columns = request.signal === undefined ? reader.columns : extendColumns(reader.columns, request.signal);
  const { values, distinct, partial } = await readTopValues(
    { ...reader, columns },
    { signal, name: field, range: request.range, search, projectId: request.projectId, limit: maxValues },
  );
  const omittedValues: Incompleteness[] =
    distinct > values.length
      ? [{ code: 'rows', message: `the ${values.length} most frequent of ${distinct} values` }]
      : [];
  return { texts: values.map(({ value }) => value), partial: [...partial, ...omittedValues] };
};

/** Formats a series like Grafana, for the pattern of a variable. */
const formatSeries = (names: readonly string[], row: readonly unknown[], atMs: number): string => {
  const labels = names
    .slice(0, -1)
    .flatMap((name, index) => (row[index] === '' ? [] : [[name, String(row[index])] as const]));
  const name = labels.find(([label]) => label === '__name__')?.[1] ?? '';
  const matchers = labels
    .filter(([label]) => label !== '__name__')
    .map(([label, value]) => `${label}=${quoteText(value)}`);
  return `${name}{${matchers.join(',')}} ${String(row.at(-1))} ${atMs}`;
};

const querySeries = async (expression: string, reader: QueryReader, request: ValuesRequest): Promise<VariableTexts> => {
  const { range, signal } = request;
  const { columns, rows, partial } = await runWithoutCost({ kind: 'promql', expression }, reader, { range, signal });
  const names = columns.map(({ name }) => name);
  return { texts: rows.map((row) => formatSeries(names, row, toMilliseconds(range.to))), partial };
};

const queryTexts = async (
  variable: QueryVariable,
  reader: QueryReader,
  request: ValuesRequest,
  scope: Scope,
): Promise<VariableTexts> => {
  switch (variable.kind) {
    case 'label-values':
      return toCompleteTexts(
        await readLabelValues(
          buildLabelsQuery(resolveMatch(variable.match, scope), reader, request),
          replaceInText(variable.label, scope),
        ),
      );
    case 'label-names':
      return toCompleteTexts(
        await readLabelNames(buildLabelsQuery(resolveMatch(variable.match, scope), reader, request)),
      );
    case 'metric-names': {
      const names = await readLabelValues(
        buildLabelsQuery(resolveMatch(variable.match, scope), reader, request),
        '__name__',
      );
      if (variable.names === undefined) return toCompleteTexts(names);
      const pattern = compilePattern(variable.names, `variables.${variable.name}.names`);
      return toCompleteTexts(names.filter((name) => pattern.test(name)));
    }
    case 'field-values': {
      const { field, search, signal } = variable;
      const conditions = search === undefined ? undefined : replaceInSearch(search, scope);
      return queryFieldValues({ field: replaceInText(field, scope), search: conditions, signal }, reader, request);
    }
    case 'promql':
      return querySeries(replaceInPromql(variable.expression, scope), reader, request);
  }
};

const resolveMatch = (match: string | undefined, scope: Scope): string | undefined =>
  match === undefined ? undefined : replaceInPromql(match, scope);

/**
 * Returns the query results of a variable over the retained part of the range. Throws a `QueryError` if its query is
 * invalid, or nothing of the range is retained.
 */
export const queryVariableTexts = async (
  variable: QueryVariable,
  reader: QueryReader,
  request: ValuesRequest,
  scope: Scope,
): Promise<VariableTexts> => {
  const signal = variable.kind === 'field-values' ? variable.signal : 'metrics';
  try {
    const { range, partial } = restrictToRetention(request.range, [signal], { caller: reader, nowMs: reader.nowMs });
    const values = await queryTexts(variable, reader, { ...request, range }, scope);
    return { ...values, partial: [...partial, ...values.partial] };
  } catch (error) {
    throw toQueryError(error);
  }
};
