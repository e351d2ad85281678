/** Converts a draft on log records or spans to queries */
import { defaultName } from '../../queries/aggregate/measures.ts';
import type { Measure, QueryRequest } from '../../queries/query.ts';
import { signalDefinitions } from '../../queries/signals/index.ts';
import { resolveReference } from '../../schemas/fields.ts';
import { type Draft, type NamedField, UnclearQuestionError } from './assemble.ts';
import { existenceCondition } from './conditions.ts';
import { hasRecordNoun, resolveExtremes } from './extremes.ts';
import type { Condition, Figure } from './marks.ts';
import { rejectIncomplete } from './unmatched-words.ts';

/** A query, and the conditions of its search */
export interface Meaning {
  readonly query: QueryRequest;
  readonly conditions: readonly string[];
  readonly stepMs: number | 'usual' | undefined;
}

type Signal = 'logs' | 'traces';
type Part = readonly Condition[];

const defaultGroupLimit = 10;
const serverSpan: Condition = { search: 'kind:server', field: 'kind' };
const clientSpan: Condition = { search: 'kind:client', field: 'kind' };
const root: Condition = { search: 'NOT parentSpanId:*', field: 'parentSpanId' };

/** Fields of outgoing calls of a service; their spans are not requests that it serves */
const clientFields = /^(?:kind|db\.|messaging\.|peer\.|server\.)/;

/**
 * Returns the queries that a draft may mean, the most likely first. `hasServerSpans` is whether span kinds identify
 * requests.
 */
export const interpretRecords = (initialDraft: Draft, signal: Signal, hasServerSpans: boolean): Meaning[] => {
  rejectIncomplete(initialDraft);
  const draft = resolveExtremes(initialDraft);
  return nounConditions(draft, hasServerSpans).flatMap((noun) => {
    if (draft.aggregationWords.has('share')) return [buildShare(draft, signal, noun, hasServerSpans)];
    return chooseMeasures(draft, signal).map((measures) =>
      queryOf(draft, signal, [...noun, ...draft.conditions], measures),
    );
  });
};

/** Returns the conditions that the noun implies; two alternatives if it is ambiguous. */
const nounConditions = (draft: Draft, hasServerSpans: boolean): Part[] => {
  const { nouns, conditions } = draft;
  const hasClientField = conditions.some(({ field }) => clientFields.test(field));
  const hasKindCondition = conditions.some(({ field }) => field === 'kind');
  if (!hasServerSpans) return [[]];
  // Outgoing calls are recorded by client spans only.
  if (nouns.has('calls') && !hasKindCondition) return hasClientField ? [[clientSpan]] : [[serverSpan], [clientSpan]];
  if (nouns.has('requests') && !hasKindCondition) return requestConditions(draft);
  const isNamed = conditions.some(({ field }) => field === 'name');
  return nouns.has('latency') && !nouns.has('spans') && !hasClientField && !isNamed ? [[serverSpan]] : [[]];
};

/** Requests that a service sends are outgoing calls; requests from a service are those, or the ones that it serves. */
const requestConditions = ({ conditions, groupBy, aggregationWords: ways }: Draft): Part[] => {
  const services = conditions.filter(({ field }) => field === 'service');
  if (ways.has('sent') && (services.length > 0 || groupBy.includes('service'))) return [[clientSpan]];
  return services.some(({ isFrom }) => isFrom === true) ? [[serverSpan], [clientSpan]] : [[serverSpan]];
};

/** Returns the measures of the query: an empty list returns rows, and several lists are alternatives. */
const chooseMeasures = (draft: Draft, signal: Signal): (readonly Measure[])[] => {
  const { figures, aggregationWords: ways, distinct } = draft;
  const field = measuredField(draft);
  const ofField = fieldMeasures(draft, signal, field);
  if (ofField.length > 0) return [[...extraMeasures(draft), ...ofField]];
  const isBySpan = ways.has('slowest') || ways.has('fastest');
  const isOfGroups = draft.groupBy.length + draft.unassignedFields.length > 0;
  if (isBySpan && (field === undefined || (field === 'duration' && !isOfGroups))) return byDuration(draft, signal);
  if (field !== undefined) return numbersAlone(field).map((measures) => [...extraMeasures(draft), ...measures]);
  if (distinct.length > 0) return [distinct.map((name) => ({ function: 'distinct', field: name }))];
  return figures.length > 0 ? [[{ function: 'rate' }]] : countMeasures(draft);
};

/** Returns measures of a field: averages, percentiles, sums. */
const fieldMeasures = (draft: Draft, signal: Signal, field: string | undefined): Measure[] => {
  const ofField = draft.figures.filter(({ function: name }) => name !== 'rate');
  // For spans, only percentiles of the duration need no field name.
  const isOfSpans = signal === 'traces' && ofField.every(({ function: name }) => name === 'percentile');
  if (field === undefined && isOfSpans) return ofField.map((figure) => withField(figure, 'duration', draft));
  if (draft.aggregationWords.has('total') && field !== undefined) ofField.push({ function: 'sum' });
  return ofField.map((figure) => withField(figure, field, draft));
};

/** "Number of requests and average latency": counts of records in addition to a measure of a field. */
const extraMeasures = ({ aggregationWords: ways, nouns, figures }: Draft): Measure[] => [
  ...(ways.has('count') && nouns.has('latency') ? [{ function: 'count' as const }] : []),
  ...figures.filter(({ function: name }) => name === 'rate'),
];

const countMeasures = (draft: Draft): (readonly Measure[])[] => {
  if (!isCounted(draft)) return [[]];
  if (isRankedAlone(draft)) throw new UnclearQuestionError('"most" has no field: name a field, such as "by service"');
  return [[draft.nouns.has('traces') ? { function: 'distinct', field: 'traceId' } : { function: 'count' }]];
};

/** Returns the field of the measures. */
const measuredField = ({
  unassignedFields: loose,
  nouns,
  aggregationWords: ways,
  figures,
}: Draft): string | undefined => {
  const numbers = loose.filter((each) => isQuantity(each)).map(({ field }) => field);
  if (numbers.length > 1)
    throw new UnclearQuestionError(`the question contains several numeric fields, ${numbers.join(' and ')}: use one`);
  const field = nouns.has('latency') ? 'duration' : numbers[0];
  if (field !== undefined && field !== 'duration' && ways.has('count') && figures.length === 0)
    throw new UnclearQuestionError(`${field} is a number: use its sum, average or another aggregation`);
  return field;
};

/** Returns whether a number is a quantity; codes and ids have no meaningful mean. */
const isQuantity = ({ field, isNumber }: NamedField): boolean =>
  isNumber && !/(?:^|[._])(?:code|id|port|number|status|version)$/i.test(field);

const byDuration = (
  { aggregationWords: ways, groupBy, unassignedFields: loose }: Draft,
  signal: Signal,
): (readonly Measure[])[] => {
  if (signal === 'logs') throw new UnclearQuestionError('log records have no duration: query requests or spans');
  if (groupBy.length + loose.length > 0) return numbersAlone('duration');
  return [[{ function: ways.has('slowest') ? 'max' : 'min', field: 'duration' }]];
};

const isRankedAlone = ({ aggregationWords: ways, groupBy, unassignedFields: loose }: Draft): boolean =>
  (ways.has('most') || ways.has('least')) && groupBy.length + loose.length === 0;

const isCounted = ({ aggregationWords: ways, groupBy, stepMs, unassignedFields: loose }: Draft): boolean =>
  groupBy.length > 0 ||
  loose.length > 0 ||
  stepMs !== undefined ||
  ['count', 'total', 'overTime', 'most', 'least'].some((way) => ways.has(way as 'count'));

/** "Latency of checkout" may be a mean or a high percentile. */
const numbersAlone = (field: string): (readonly Measure[])[] => [
  [{ function: 'percentile', percentile: 95, field }],
  [{ function: 'avg', field }],
];

const withField = (figure: Figure, field: string | undefined, { nouns }: Draft): Measure => {
  if (field !== undefined) return { ...figure, field };
  const of = nouns.has('logs') ? 'a field of the log records' : 'the duration or another field';
  throw new UnclearQuestionError(`the ${nameOf(figure)} has no field: name ${of}`);
};

const nameOf = ({ function: name, percentile }: Figure): string =>
  name === 'percentile'
    ? `${percentile}th percentile`
    : ({ avg: 'average', max: 'maximum', min: 'minimum', sum: 'sum' }[name as 'avg'] ?? name);

const searchOf = (conditions: Part): { readonly search?: string } =>
  conditions.length === 0 ? {} : { search: conditions.map(({ search }) => search).join(' ') };

const stepOf = ({ stepMs, aggregationWords: ways }: Draft): Meaning['stepMs'] =>
  stepMs ?? (ways.has('overTime') ? 'usual' : undefined);

const isRankedBy = ({ aggregationWords: ways }: Draft): boolean =>
  ['most', 'least', 'slowest', 'fastest'].some((way) => ways.has(way as 'most'));

const queryOf = (draft: Draft, signal: Signal, conditions: Part, measures: readonly Measure[]): Meaning => {
  const stepFields = { stepMs: stepOf(draft) };
  if (measures.length === 0) return { ...stepFields, ...rowsOf(draft, signal, conditions) };
  const { aggregationWords: ways } = draft;
  const isReverse = ways.has('least') || ways.has('fastest');
  const each = eachSpan(draft, measures);
  const groupBy = each ?? groupsOf(draft, measures);
  refuseOrders(draft, groupBy);
  const isRanked = groupBy.length > 0 && isRankedBy(draft);
  const limit = draft.limit ?? (isRanked ? defaultGroupLimit : undefined);
  const all = limit === undefined || each !== undefined ? conditions : withGroups(conditions, groupBy, signal);
  return {
    ...stepFields,
    conditions: all.map(({ search }) => search),
    query: {
      kind: 'aggregate',
      signal,
      ...searchOf(all),
      measures: [...measures],
      groupBy,
      ...(isReverse ? { order: { by: defaultName(measures[0] as Measure), direction: 'ascending' as const } } : {}),
      ...(limit === undefined ? {} : { limit }),
    },
  };
};

/** An order or limit would have no effect on a single value or on several measures. */
const refuseOrders = ({ aggregationWords: ways, limit }: Draft, groupBy: readonly string[]): void => {
  if (groupBy.length === 0 && (ways.has('most') || ways.has('least') || limit !== undefined))
    throw new UnclearQuestionError('the order has no field: name a field, such as "by service"');
  if (ways.has('newest') || ways.has('oldest'))
    throw new UnclearQuestionError('aggregations have no first or last: query the records, or name a range');
};

/** Excludes records without the ranked field, because they form no group: "top 5 users" has five users. */
const withGroups = (conditions: Part, groupBy: readonly string[], signal: Signal): Part => {
  const isOwn = (name: string): boolean => resolveReference(signalDefinitions[signal].fields, name).kind === 'field';
  const missing = groupBy.filter((name) => !isOwn(name) && !conditions.some(({ field }) => field === name));
  return [...conditions, ...missing.map(existenceCondition)];
};

/** "The slowest requests" are single spans ordered by duration. */
const eachSpan = (
  { aggregationWords: ways, groupBy, unassignedFields: loose, nouns }: Draft,
  measures: readonly Measure[],
): string[] | undefined => {
  if (nouns.has('latency') && !hasRecordNoun(nouns)) return undefined;
  const isEach = (ways.has('slowest') || ways.has('fastest')) && groupBy.length + loose.length === 0;
  return isEach && measures.every(({ field }) => field === 'duration')
    ? ['service', 'name', 'traceId', 'spanId']
    : undefined;
};

/** Fields that are not measured are groups: "services with the most errors". */
const groupsOf = (
  { groupBy, unassignedFields: loose, aggregationWords: ways, limit }: Draft,
  measures: readonly Measure[],
): string[] => {
  const others = loose.map(({ field }) => field).filter((field) => !measures.some((each) => each.field === field));
  const isRanked =
    limit !== undefined || ['most', 'least', 'slowest', 'fastest', 'which'].some((way) => ways.has(way as 'most'));
  if (others.length > 0 && (!isRanked || groupBy.length > 0))
    throw new UnclearQuestionError(
      `the question contains ${others.join(' and ')} without a purpose: write "by ${others[0]}", or a value of it`,
    );
  return [...groupBy, ...others];
};

const rowsOf = (
  { nouns, aggregationWords: ways, limit }: Draft,
  signal: Signal,
  conditions: Part,
): Pick<Meaning, 'query' | 'conditions'> => {
  // Root spans do not record the outgoing calls of a service.
  const isOfRoots =
    nouns.has('traces') && !conditions.some(({ field }) => clientFields.test(field) || field === 'traceId');
  const all = isOfRoots ? [root, ...conditions] : conditions;
  return {
    conditions: all.map(({ search }) => search),
    query: {
      kind: 'rows',
      signal,
      ...searchOf(all),
      ...(ways.has('oldest') ? { order: 'oldest' as const } : {}),
      ...(limit === undefined ? {} : { limit }),
    },
  };
};

/**
 * Returns the numerator of a share: failures, otherwise a comparison such as a duration, otherwise the only condition.
 */
const numeratorConditions = ({ conditions }: Draft): Part => {
  const explicitParts = conditions.filter(({ isPart }) => isPart === true);
  const compared = conditions.filter(({ search }) => /:(?:[<>]|\[)/.test(search));
  return explicitParts.length > 0
    ? explicitParts
    : compared.length > 0 || conditions.length > 1
      ? compared
      : conditions;
};

/** Returns a share in percent. Failures define the numerator; all other conditions apply to both. */
const buildShare = (draft: Draft, signal: Signal, noun: Part, hasServerSpans: boolean): Meaning => {
  const part = numeratorConditions(draft);
  if (part.length === 0)
    throw new UnclearQuestionError('the share has no condition: use the share of errors, or of a status such as 5xx');
  if (signal === 'logs' && !draft.nouns.has('logs'))
    throw new UnclearQuestionError('a share of log records needs the word "logs"');
  const isBare =
    signal === 'traces' &&
    noun.length === 0 &&
    hasServerSpans &&
    !draft.nouns.has('spans') &&
    !draft.nouns.has('traces');
  const all = [...(isBare ? [serverSpan] : noun), ...draft.conditions.filter((condition) => !part.includes(condition))];
  const of = (measure: Measure): QueryRequest => ({
    kind: 'aggregate',
    signal,
    ...searchOf(all),
    measures: [measure],
    groupBy: groupsOf(draft, []),
  });
  type Plain = Extract<QueryRequest, { kind: 'aggregate' }>;
  return {
    stepMs: stepOf(draft),
    conditions: all.map(({ search }) => search),
    query: {
      kind: 'formula',
      expression: '100 * part / whole',
      queries: {
        part: of({ function: 'count', ...searchOf(part) }) as Plain,
        whole: of({ function: 'count' }) as Plain,
      },
    },
  };
};
