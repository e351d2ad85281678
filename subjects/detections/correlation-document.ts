/** Parses the `correlation` part of a document. */
import { isScalar } from 'yaml';
import { ConditionError, parseConditions } from './condition.ts';
import {
  type Comparison,
  type Condition,
  type CorrelationType,
  comparisons,
  correlationTypes,
  type SigmaCorrelation,
  type SigmaDocumentBase,
} from './documents.ts';
import type { YamlMap } from './yaml.ts';

const unitsMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
/** Maximum timespan of a window, because windows store their matches. */
export const maxTimespanMs = 30 * 86_400_000;

const parseTimespan = (map: YamlMap): number => {
  const text = map.readText('timespan') || map.readText('timeframe');
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const timespanMs = Number(count) * (unitsMs[unit] ?? Number.NaN);
  if (timespanMs > 0 && timespanMs <= maxTimespanMs) return timespanMs;
  map.addError('timespan', `"${text}" is not a timespan: write a number and s, m, h or d, at most 30d`);
  return 0;
};

const parseAliases = (map: YamlMap): Map<string, ReadonlyMap<string, string>> => {
  const aliases = new Map<string, ReadonlyMap<string, string>>();
  const aliasMaps = map.readMap('aliases');
  for (const alias of aliasMaps?.keys ?? []) {
    const fields = aliasMaps?.readMap(alias);
    if (fields !== undefined) aliases.set(alias, new Map(fields.keys.map((rule) => [rule, fields.readText(rule)])));
  }
  return aliases;
};

type CorrelationCondition = Pick<SigmaCorrelation, 'bounds' | 'condition' | 'fields' | 'percentile'>;
const isTemporal = (type: CorrelationType): boolean => type === 'temporal' || type === 'temporal_ordered';

const parseTemporalCondition = (map: YamlMap, rules: readonly string[]): Condition | undefined => {
  try {
    return parseConditions([map.readText('condition')], rules)[0];
  } catch (error) {
    if (!(error instanceof ConditionError)) throw error;
    map.addError('condition', error.message.replace('selection', 'rule'));
    return undefined;
  }
};

const parseBounds = (condition: YamlMap): CorrelationCondition['bounds'] => {
  const bounds = condition.keys.flatMap((key) => {
    if (key === 'field' || key === 'percentile') return [];
    if (!comparisons.includes(key as Comparison)) {
      condition.addError(key, `"${key}" is not one of field, percentile, ${comparisons.join(', ')}`);
      return [];
    }
    const value = condition.value(condition.getNode(key));
    if (typeof value === 'number') return [{ is: key as Comparison, value }];
    condition.addError(key, 'expected a number');
    return [];
  });
  if (bounds.length === 0) condition.addError('', `a condition needs one of ${comparisons.join(', ')}`);
  return bounds;
};

const parsePercentile = (condition: YamlMap): number => {
  const percentile = condition.readText('percentile') === '' ? 50 : Number(condition.readText('percentile'));
  if (!(percentile >= 0 && percentile <= 100)) condition.addError('percentile', 'expected a number from 0 to 100');
  return percentile;
};

const parseCorrelationCondition = (
  map: YamlMap,
  type: CorrelationType,
  rules: readonly string[],
): CorrelationCondition => {
  const emptyCondition: CorrelationCondition = { bounds: [], condition: undefined, fields: [], percentile: 50 };
  const node = map.getNode('condition');
  if (node === undefined) {
    if (!isTemporal(type)) map.addError('condition', 'a condition is missing');
    return emptyCondition;
  }
  if (isScalar(node)) {
    if (isTemporal(type)) return { ...emptyCondition, condition: parseTemporalCondition(map, rules) };
    map.addError('condition', 'expected a map such as gte: 10');
    return emptyCondition;
  }
  const condition = map.readMap('condition');
  if (condition === undefined) return emptyCondition;
  const bounds = parseBounds(condition);
  const fields = condition.readTexts('field');
  if (type.startsWith('value_') && fields.length === 0) condition.addError('field', `${type} needs a field`);
  return { bounds, condition: undefined, fields, percentile: parsePercentile(condition) };
};

/** Parses a correlation. Problems are reported on its map. */
export const parseCorrelation = (root: YamlMap, documentFields: SigmaDocumentBase): SigmaCorrelation | undefined => {
  const map = root.readMap('correlation');
  if (map === undefined) return undefined;
  const type = correlationTypes.find((correlationType) => correlationType === map.readText('type'));
  if (type === undefined) {
    map.addError('type', `"${map.readText('type')}" is not one of ${correlationTypes.join(', ')}`);
    return undefined;
  }
  const rules = map.readTexts('rules');
  if (rules.length === 0) map.addError('rules', 'a correlation needs ids or names of rules');
  return {
    ...documentFields,
    kind: 'correlation',
    type,
    rules,
    groupBy: map.readTexts('group-by'),
    timespanMs: parseTimespan(map),
    ...parseCorrelationCondition(map, type, rules),
    aliases: parseAliases(map),
    generate: /^true$/i.test(map.readText('generate') || root.readText('generate')),
  };
};
