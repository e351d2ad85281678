/** Label matchers in JavaScript, and as SQL over `series`. */
import type { QueryParameters } from '../../../schemas/ports/columns.ts';
import type { Translation } from '../otlp/labels.ts';
import { escapesNames } from '../otlp/names.ts';
import type { Matcher } from '../series.ts';
import { compileTest } from '../syntax/matchers.ts';

/** Returns whether a value matches. */
export type ValueTest = (value: string) => boolean;

/** Anchors a regular expression, so that it matches the entire value. */
const anchorRegex = (source: string): string => `^(?s:${source})$`;

/** Returns matchers as one test over labels by name. */
export const buildLabelsTest = (matchers: readonly Matcher[]): ((labels: ReadonlyMap<string, string>) => boolean) => {
  const tests = matchers.map((matcher) => ({ name: matcher.name, test: compileTest(matcher) }));
  return (labels) => tests.every(({ name, test }) => test(labels.get(name) ?? ''));
};

/** SQL of a condition, with the values of its parameters. */
export interface Condition {
  readonly sql: string;
  readonly parameters: QueryParameters;
}

const buildOperatorCondition = ({ op, value }: Matcher, expression: string, name: string): Condition => {
  if (op === '=' || op === '!=') return { sql: `${expression} ${op} {${name}:String}`, parameters: { [name]: value } };
  const matchSql = `match(${expression}, {${name}:String})`;
  return { sql: op === '=~' ? matchSql : `NOT ${matchSql}`, parameters: { [name]: anchorRegex(value) } };
};

const joinConditions = (conditions: readonly Condition[]): Condition => ({
  sql: conditions.map(({ sql }) => sql).join(' AND '),
  parameters: Object.assign({}, ...conditions.map(({ parameters }) => parameters)) as QueryParameters,
});

/** Returns SQL of the matchers for remote-write series: exact, except for the name. */
export const buildPrometheusCondition = (matchers: readonly Matcher[]): Condition =>
  joinConditions(
    matchers
      .filter(({ name }) => name !== '__name__')
      .map((matcher, index) => {
        const { sql, parameters } = buildOperatorCondition(
          matcher,
          `attributes[{label${index}:String}]`,
          `match${index}`,
        );
        return { sql, parameters: { ...parameters, [`label${index}`]: matcher.name } };
      }),
  );

/** Returns whether a label has other sources than the attributes of the series. */
const hasOtherSources = (name: string, { promoted }: Translation, promotedNames: readonly string[]): boolean =>
  name === 'le' ||
  name === 'quantile' ||
  name.startsWith('otel_scope_') ||
  (promoted.length > 0 && promotedNames.includes(name));

/** Returns a regular expression of the keys that translate to a label. */
export const buildKeyPattern = (name: string): string =>
  `^${[...name].map((character) => (character === '_' ? '[^A-Za-z0-9]' : character.replace(/[^A-Za-z0-9\u0080-\u{10FFFF}]/u, '\\$&'))).join('')}$`;

/** Jobs with more slashes are not searched by their service. */
const maxSlashes = 32;

/**
 * Returns every text that may be the service name of a job: the suffix after each of its slashes, and the entire job.
 */
const listServiceCandidates = (job: string): string[] => {
  const names = job.split('/');
  return names.map((_, index) => names.slice(index).join('/'));
};

/**
 * Returns SQL of candidate OTLP series: it includes all matching series, and possibly others. The name is not part of
 * the condition.
 */
export const buildOtlpCondition = (
  matchers: readonly Matcher[],
  translation: Translation,
  promotedNames: readonly string[],
): Condition =>
  joinConditions(
    matchers.flatMap((matcher, index) => {
      const { name, op, value } = matcher;
      // Colliding keys have their values joined with `;`.
      if (name === '__name__' || op !== '=' || value === '' || value.includes(';')) return [];
      if (hasOtherSources(name, translation, promotedNames)) return [];
      const { sql, parameters } = buildOtlpEquality({ name, value }, `otlp${index}`, translation);
      return sql === '' ? [] : [{ sql, parameters }];
    }),
  );

const buildOtlpEquality = (
  { name, value }: Pick<Matcher, 'name' | 'value'>,
  parameter: string,
  { strategy }: Translation,
): Condition => {
  const key = `${parameter}k`;
  const hasValue = `has(mapValues(attributes), {${parameter}:String})`;
  if (name === 'job' && value.split('/').length > maxSlashes + 1) return { sql: '', parameters: {} };
  if (name === 'job')
    return {
      sql: `(series.service IN {${key}:Array(String)} OR ${hasValue})`,
      parameters: { [parameter]: value, [key]: listServiceCandidates(value) },
    };
  if (name === 'instance')
    return {
      sql: `(resource_id IN (SELECT resource_id FROM resources WHERE tenant_id = {tenant:String} AND attributes['service.instance.id'] = {${parameter}:String}) OR ${hasValue})`,
      parameters: { [parameter]: value },
    };
  if (!escapesNames(strategy))
    return {
      sql: `attributes[{${key}:String}] = {${parameter}:String}`,
      parameters: { [parameter]: value, [key]: name },
    };
  // This name may derive from other prefixes.
  if (/^(?:key)?_/.test(name)) return { sql: hasValue, parameters: { [parameter]: value } };
  return {
    sql: `arrayExists((k, v) -> v = {${parameter}:String} AND match(k, {${key}:String}), mapKeys(attributes), mapValues(attributes))`,
    parameters: { [parameter]: value, [key]: buildKeyPattern(name) },
  };
};
