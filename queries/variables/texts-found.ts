/** Queries telemetry for the texts of a variable's values. */

import { maxValues } from '../../schemas/dashboards/variables.ts';
import { invalid } from '../errors.ts';
import { topValues } from '../fields/values.ts';
import { patternOf } from '../patterns.ts';
import { labelNames, labelValues, type Question } from '../promql/fetch/label-reads.ts';
import { retentionStartMs } from '../promql/fetch/scope.ts';
import type { QueryReading } from '../promql/reading.ts';
import { toQueryError } from '../promql/run-promql.ts';
import { parseSelector } from '../promql/syntax/parse.ts';
import { quoted } from '../promql/syntax/quotes.ts';
import { type Range, refuseBeyondRetention } from '../range.ts';
import type { Incompleteness } from '../result.ts';
import { answerOnly, withSignal } from '../run.ts';
import { inPromql } from './in-promql.ts';
import { inSearch } from './in-search.ts';
import { inText } from './in-text.ts';
import type { QueryVariable } from './options.ts';
import type { Scope } from './scope.ts';

/** Scope of the queries. */
export interface ValuesRequest {
  readonly range: Range;
  readonly projectId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface TextsFound {
  readonly texts: readonly string[];
  readonly partial: readonly Incompleteness[];
}

const msOf = (nanoseconds: bigint): number => Number(nanoseconds / 1_000_000n);

const labelsQuestion = (
  match: string | undefined,
  reading: QueryReading,
  { range, projectId, signal }: ValuesRequest,
): Question => {
  const { columns, promql, plan, nowMs } = reading;
  if (promql === undefined) throw invalid('variables', 'labels are not read here');
  refuseBeyondRetention(range, { caller: reading, signal: 'metrics', nowMs });
  return {
    scope: {
      columns: signal === undefined ? columns : withSignal(columns, signal),
      translation: promql.translation,
      projectId,
    },
    window: { fromMs: Math.max(retentionStartMs(plan, nowMs), msOf(range.from)), toMs: msOf(range.to) },
    sets: match === undefined ? [] : [parseSelector(match)],
  };
};

const complete = (texts: readonly string[]): TextsFound => ({ texts, partial: [] });

const fieldValues = async (
  { field, search, signal }: { field: string; search: string | undefined; signal: 'logs' | 'traces' },
  reading: QueryReading,
  request: ValuesRequest,
): Promise<TextsFound> => {
  const columns = request.signal === undefined ? reading.columns : withSignal(reading.columns, request.signal);
  const { values, distinct, partial } = await topValues(
    { ...reading, columns },
    { signal, name: field, range: request.range, search, projectId: request.projectId, limit: maxValues },
  );
  const more: Incompleteness[] =
    distinct > values.length
      ? [{ code: 'rows', message: `the ${values.length} most frequent of ${distinct} values` }]
      : [];
  return { texts: values.map(({ value }) => value), partial: [...partial, ...more] };
};

/** Formats a series like Grafana, for the pattern of a variable. */
const seriesText = (names: readonly string[], row: readonly unknown[], atMs: number): string => {
  const labels = names
    .slice(0, -1)
    .flatMap((name, index) => (row[index] === '' ? [] : [[name, String(row[index])] as const]));
  const name = labels.find(([label]) => label === '__name__')?.[1] ?? '';
  const inner = labels.filter(([label]) => label !== '__name__').map(([label, value]) => `${label}=${quoted(value)}`);
  return `${name}{${inner.join(',')}} ${String(row.at(-1))} ${atMs}`;
};

const seriesFound = async (expression: string, reading: QueryReading, request: ValuesRequest): Promise<TextsFound> => {
  const { range, signal } = request;
  const { columns, rows, partial } = await answerOnly({ kind: 'promql', expression }, reading, { range, signal });
  const names = columns.map(({ name }) => name);
  return { texts: rows.map((row) => seriesText(names, row, msOf(range.to))), partial };
};

const queryTexts = async (
  variable: QueryVariable,
  reading: QueryReading,
  request: ValuesRequest,
  scope: Scope,
): Promise<TextsFound> => {
  switch (variable.kind) {
    case 'label-values':
      return complete(
        await labelValues(
          labelsQuestion(matchOf(variable.match, scope), reading, request),
          inText(variable.label, scope),
        ),
      );
    case 'label-names':
      return complete(await labelNames(labelsQuestion(matchOf(variable.match, scope), reading, request)));
    case 'metric-names': {
      const names = await labelValues(labelsQuestion(matchOf(variable.match, scope), reading, request), '__name__');
      if (variable.names === undefined) return complete(names);
      const pattern = patternOf(variable.names, `variables.${variable.name}.names`);
      return complete(names.filter((name) => pattern.test(name)));
    }
    case 'field-values': {
      const { field, search, signal } = variable;
      const conditions = search === undefined ? undefined : inSearch(search, scope);
      return fieldValues({ field: inText(field, scope), search: conditions, signal }, reading, request);
    }
    case 'promql':
      return seriesFound(inPromql(variable.expression, scope), reading, request);
  }
};

const matchOf = (match: string | undefined, scope: Scope): string | undefined =>
  match === undefined ? undefined : inPromql(match, scope);

/** Returns the query results of a variable. Throws a `QueryError` if its query is invalid. */
export const queryVariableTexts = async (
  variable: QueryVariable,
  reading: QueryReading,
  request: ValuesRequest,
  scope: Scope,
): Promise<TextsFound> => {
  try {
    return await queryTexts(variable, reading, request, scope);
  } catch (error) {
    throw toQueryError(error);
  }
};
