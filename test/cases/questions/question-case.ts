/** The telemetry behind questions in tests, and a short notation for their queries. */
import { getMeasureName } from '../../../queries/aggregate/measures.ts';
import { type MetricQuery, Query, type QueryRequest } from '../../../queries/query.ts';
import type {
  Catalogue,
  CatalogueField,
  CatalogueMetric,
  CatalogueRecords,
  MetricKind,
} from '../../../subjects/questions/catalogue.ts';
import { interpretQuestion } from '../../../subjects/questions/interpret-question.ts';
import type { Interpretation, InterpretationResult } from '../../../subjects/questions/interpretation.ts';
import type { ServiceDeployment } from '../../../subjects/questions/times.ts';

/**
 * A question and its query in short notation; several queries are alternatives, and `refused` with a code is a refusal.
 * Previous questions make it a continuation.
 */
export type QuestionCase = readonly [
  question: string,
  expected: string | readonly string[],
  previousQuestions?: readonly string[],
];

/** Questions of five persons from one domain */
export type Persons = Readonly<
  Record<'operator' | 'developer' | 'manager' | 'support' | 'analyst', readonly QuestionCase[]>
>;

/** Only `resource.` determines the level of a name: a name without it has the same meaning. */
export const field = (
  name: string,
  values: readonly string[],
  distinct = values.length,
  type = 'text',
): CatalogueField => ({
  name: name.replace(/^resource\./, ''),
  values,
  isNumber: type === 'number',
  hasAllValues: distinct === values.length,
});

export const signal = (
  services: readonly string[],
  fields: readonly CatalogueField[],
  names: readonly string[] = [],
): CatalogueRecords => ({
  services,
  fields: names.length === 0 ? fields : [...fields, field('name', names)],
});

export const metric = (
  name: string,
  kind: MetricKind,
  unit: string,
  labels: Record<string, readonly string[]>,
): CatalogueMetric => ({
  name,
  kind,
  unit,
  services: [],
  labels: Object.entries(labels).map(([label, values]) => field(label, values)),
});

/** Wednesday, 11 March 2026, 10:30 UTC. */
export const nowMs = Date.UTC(2026, 2, 11, 10, 30);
const nowNs = BigInt(nowMs) * 1_000_000n;
const hourNs = 3_600_000_000_000n;
export const defaultRange = { from: nowNs - hourNs, to: nowNs };

const conditions = (search: string | undefined): string =>
  search === undefined
    ? ''
    : ` [${search.includes(' AND ') ? search : (search.match(/(?:NOT )?(?:"[^"]*"|\([^)]*\)|[\w.@$]+:(?:"[^"]*"|\([^)]*\)|\[[^\]]*\]|\S+))/g) ?? [search]).toSorted().join(' ')}]`;
const by = (groupBy: readonly string[]): string => (groupBy.length === 0 ? '' : ` by ${groupBy.join(',')}`);
const limited = (limit: number, defaultLimit = 100): string => (limit === defaultLimit ? '' : ` limit ${limit}`);

const havingSigns = { above: '>', 'at-least': '>=', below: '<', 'at-most': '<=' } as const;
const having = ({ having: condition }: Pick<MetricQuery, 'having'>): string =>
  condition === undefined ? '' : ` having ${havingSigns[condition.operator]}${condition.value}`;

const ascending = (isAscending: boolean): string => (isAscending ? ' ascending' : '');

/** `traces p95(duration) [service:cart] by http.route limit 5`. */
const shortQuery = (request: QueryRequest): string => {
  const query = Query.parse(request);
  switch (query.kind) {
    case 'rows':
      return `${query.signal} rows${conditions(query.search)}${query.order === 'oldest' ? ' oldest' : ''}${limited(query.limit)}`;
    case 'aggregate': {
      const { signal: of, search, measures, groupBy, limit, order } = query;
      const measureTexts = measures.map(
        (each) =>
          `${each.function === 'percentile' ? `p${each.percentile}` : each.function}${each.field ? `(${each.field})` : ''}`,
      );
      const isReverse =
        order?.direction === 'ascending' && order.by === getMeasureName(measures[0] as (typeof measures)[number]);
      return `${of} ${measureTexts.join(',')}${conditions(search)}${by(groupBy)}${having(query)}${ascending(isReverse)}${limited(limit)}`;
    }
    case 'metric': {
      const { metric: name, overTime, across, quantile, search, groupBy, limit, order } = query;
      const quantileText = quantile === undefined ? '' : ` ${quantile}`;
      return `metric ${name} ${overTime}${quantileText}/${across}${conditions(search)}${by(groupBy)}${having(query)}${ascending(order === 'ascending')}${limited(limit)}`;
    }
    case 'formula': {
      const { part, whole, highest } = query.queries;
      if (highest?.kind === 'metric')
        return `growth ${highest.metric}${conditions(highest.search)}${by(highest.groupBy)}${having(query)}${limited(query.limit ?? 100)}`;
      if (part?.kind !== 'aggregate' || whole?.kind !== 'aggregate') return query.expression;
      return `share ${part.signal}${conditions(part.measures[0]?.search)} of${conditions(whole.search)}${by(whole.groupBy)}${having(query)}${limited(query.limit ?? 100)}`;
    }
    case 'promql':
      return `promql ${query.expression}`;
    default:
      return query.kind;
  }
};

const timeText = (ns: bigint): string => new Date(Number((ns + 1n) / 1_000_000n)).toISOString().slice(8, 16);

const formatRange = ({ from, to }: Interpretation['range']): string => `${timeText(from)}..${timeText(to)}`;

/** An interpretation in short notation: default ranges and steps are omitted. */
export const short = ({ query, range, comparedRange, stepMs }: Interpretation): string => {
  const isDefault = range.from === defaultRange.from && range.to === defaultRange.to;
  const units = { 3600000: '1h', 600000: '10m', 300000: '5m', 60000: '1m', 86400000: '1d' } as Record<number, string>;
  return [
    shortQuery(query),
    ...(stepMs === undefined ? [] : [`each ${units[stepMs] ?? stepMs}`]),
    ...(isDefault ? [] : [formatRange(range)]),
    ...(comparedRange === undefined ? [] : [`than ${formatRange(comparedRange)}`]),
  ].join(' ');
};

/** The outcome of a question, in short notation. */
export const answerTo = (
  question: string,
  catalogue: Catalogue,
  {
    timeZone = 'UTC',
    deployments = [],
    previousQuestions = [],
  }: {
    timeZone?: string;
    deployments?: readonly ServiceDeployment[];
    previousQuestions?: readonly string[] | undefined;
  } = {},
): string | string[] =>
  toShortResult(
    interpretQuestion({ question, previousQuestions, nowMs, timeZone, defaultRange, deployments }, catalogue),
  );

export const toShortResult = (understood: InterpretationResult): string | string[] => {
  if (understood.is === 'interpretation') return short(understood.interpretation);
  if (understood.is === 'investigation') {
    const { about, service, range } = understood.investigation;
    const isDefault = range.from === defaultRange.from && range.to === defaultRange.to;
    return `${about} ${service ?? '*'}${isDefault ? '' : ` ${formatRange(range)}`}`;
  }
  if (understood.is === 'alternatives') return understood.interpretations.map(short).toSorted();
  return `refused ${understood.refusal.code}`;
};

/** Compares an answer with the expected one: `right`, `alternatives` with others, `refused` or `wrong`. */
export const judgeAnswer = (
  answer: string | string[],
  expected: string | readonly string[],
): 'right' | 'alternatives' | 'refused' | 'wrong' => {
  if (JSON.stringify(answer) === JSON.stringify(expected)) return 'right';
  if (Array.isArray(answer)) return 'alternatives';
  const isRefusal = answer.startsWith('refused');
  return isRefusal && String(expected).startsWith('refused') ? 'right' : isRefusal ? 'refused' : 'wrong';
};
