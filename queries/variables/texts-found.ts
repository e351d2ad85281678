/** Asks telemetry for the texts out of which a variable's values are made. */

import { mostValues } from '../../schemas/dashboards/variables.ts';
import { invalid } from '../errors.ts';
import { topValues } from '../fields/values.ts';
import { patternOf } from '../patterns.ts';
import { labelNames, labelValues, type Question } from '../promql/fetch/label-reads.ts';
import { keptFromMs } from '../promql/fetch/scope.ts';
import type { QueryReading } from '../promql/reading.ts';
import { faultOfPromql } from '../promql/run-promql.ts';
import { parseSelector } from '../promql/syntax/parse.ts';
import { quoted } from '../promql/syntax/quotes.ts';
import { type Range, refuseBeyondRetention } from '../range.ts';
import type { Incompleteness } from '../result.ts';
import { answerOnly, heeding } from '../run.ts';
import { inPromql } from './in-promql.ts';
import { inSearch } from './in-search.ts';
import { inText } from './in-text.ts';
import type { AskedVariable } from './options.ts';
import type { Scope } from './scope.ts';

/** Over what they are asked. */
export interface ValuesAsked {
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
  { range, projectId, signal }: ValuesAsked,
): Question => {
  const { columns, promql, plan, nowMs } = reading;
  if (promql === undefined) throw invalid('variables', 'labels are not read here');
  refuseBeyondRetention(range, { caller: reading, signal: 'metrics', nowMs });
  return {
    scope: {
      columns: signal === undefined ? columns : heeding(columns, signal),
      translation: promql.translation,
      projectId,
    },
    window: { fromMs: Math.max(keptFromMs(plan, nowMs), msOf(range.from)), toMs: msOf(range.to) },
    sets: match === undefined ? [] : [parseSelector(match)],
  };
};

const complete = (texts: readonly string[]): TextsFound => ({ texts, partial: [] });

const fieldValues = async (
  { field, search, signal }: { field: string; search: string | undefined; signal: 'logs' | 'traces' },
  reading: QueryReading,
  asked: ValuesAsked,
): Promise<TextsFound> => {
  const columns = asked.signal === undefined ? reading.columns : heeding(reading.columns, asked.signal);
  const { values, distinct, partial } = await topValues(
    { ...reading, columns },
    { signal, name: field, range: asked.range, search, projectId: asked.projectId, limit: mostValues },
  );
  const more: Incompleteness[] =
    distinct > values.length
      ? [{ code: 'rows', message: `the ${values.length} most frequent of ${distinct} values` }]
      : [];
  return { texts: values.map(({ value }) => value), partial: [...partial, ...more] };
};

/** A series as Grafana writes it for the pattern of a variable. */
const seriesText = (names: readonly string[], row: readonly unknown[], atMs: number): string => {
  const labels = names
    .slice(0, -1)
    .flatMap((name, index) => (row[index] === '' ? [] : [[name, String(row[index])] as const]));
  const name = labels.find(([label]) => label === '__name__')?.[1] ?? '';
  const inner = labels.filter(([label]) => label !== '__name__').map(([label, value]) => `${label}=${quoted(value)}`);
  return `${name}{${inner.join(',')}} ${String(row.at(-1))} ${atMs}`;
};

const seriesFound = async (expression: string, reading: QueryReading, asked: ValuesAsked): Promise<TextsFound> => {
  const { range, signal } = asked;
  const { columns, rows, partial } = await answerOnly({ kind: 'promql', expression }, reading, { range, signal });
  const names = columns.map(({ name }) => name);
  return { texts: rows.map((row) => seriesText(names, row, msOf(range.to))), partial };
};

const ask = async (
  variable: AskedVariable,
  reading: QueryReading,
  asked: ValuesAsked,
  scope: Scope,
): Promise<TextsFound> => {
  switch (variable.kind) {
    case 'label-values':
      return complete(
        await labelValues(
          labelsQuestion(matchOf(variable.match, scope), reading, asked),
          inText(variable.label, scope),
        ),
      );
    case 'label-names':
      return complete(await labelNames(labelsQuestion(matchOf(variable.match, scope), reading, asked)));
    case 'metric-names': {
      const names = await labelValues(labelsQuestion(matchOf(variable.match, scope), reading, asked), '__name__');
      if (variable.names === undefined) return complete(names);
      const pattern = patternOf(variable.names, `variables.${variable.name}.names`);
      return complete(names.filter((name) => pattern.test(name)));
    }
    case 'field-values': {
      const { field, search, signal } = variable;
      const conditions = search === undefined ? undefined : inSearch(search, scope);
      return fieldValues({ field: inText(field, scope), search: conditions, signal }, reading, asked);
    }
    case 'promql':
      return seriesFound(inPromql(variable.expression, scope), reading, asked);
  }
};

const matchOf = (match: string | undefined, scope: Scope): string | undefined =>
  match === undefined ? undefined : inPromql(match, scope);

/** The texts that a variable finds. Throws a `QueryError` where it asks for what cannot be asked. */
export const textsFound = async (
  variable: AskedVariable,
  reading: QueryReading,
  asked: ValuesAsked,
  scope: Scope,
): Promise<TextsFound> => {
  try {
    return await ask(variable, reading, asked, scope);
  } catch (error) {
    throw faultOfPromql(error);
  }
};
