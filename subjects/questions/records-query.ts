/** Converts a draft about log records or spans to queries */
import { getMeasureName } from '../../queries/aggregate/measures.ts';
import type { Measure, QueryRequest } from '../../queries/query.ts';
import { signalDefinitions } from '../../queries/signals/index.ts';
import { resolveReference } from '../../schemas/fields.ts';
import { type Draft, type NamedField, UnclearQuestionError } from './assemble.ts';
import { createExistenceCondition } from './conditions.ts';
import { hasRecordNoun, resolveExtremes } from './extremes.ts';
import { toRecordsHaving } from './group-conditions.ts';
import type { Condition, MeasureFunction } from './marks.ts';
import { statusField } from './numbers-in-text.ts';
import { rejectIncomplete } from './unmatched-words.ts';

/** A query, and the conditions of its search */
export interface Meaning {
  readonly query: QueryRequest;
  readonly conditions: readonly string[];
  readonly stepMs: number | 'usual' | undefined;
}

type Signal = 'logs' | 'traces';
type Conditions = readonly Condition[];

const defaultGroupLimit = 10;
const serverSpan: Condition = { search: 'kind:server', field: 'kind' };
const clientSpan: Condition = { search: 'kind:client', field: 'kind' };
const rootSpan: Condition = { search: 'NOT parentSpanId:*', field: 'parentSpanId' };

/** Fields of outgoing calls of a service; their spans are not requests that it serves */
const clientFields = /^(?:kind|db\.|messaging\.|peer\.|server\.)/;

/**
 * Returns the queries that a draft may mean, the most likely first. `hasServerSpans` is whether span kinds identify
 * requests.
 */
export const interpretRecords = (initialDraft: Draft, signal: Signal, hasServerSpans: boolean): Meaning[] => {
  rejectIncomplete(initialDraft);
  const draft = resolveExtremes(initialDraft);
  return getNounConditions(draft, hasServerSpans).flatMap((noun) => {
    if (draft.aggregationWords.has('share') || isShareOfGroups(draft))
      return [buildShare(draft, signal, noun, hasServerSpans)];
    return chooseMeasures(draft, signal).map((measures) =>
      createQuery(draft, signal, [...noun, ...draft.conditions], measures),
    );
  });
};

/** "Routes where more than 1 % of requests fail" are compared by a share. */
const isShareOfGroups = ({ having, measures, distinct, nouns, unassignedFields: fields }: Draft): boolean =>
  having?.unit === '%' && measures.length + distinct.length === 0 && !nouns.has('latency') && !fields.some(isQuantity);

/** Returns the conditions that the noun implies; two alternatives if it is ambiguous. */
const getNounConditions = (draft: Draft, hasServerSpans: boolean): Conditions[] => {
  const { nouns, conditions } = draft;
  const hasClientField = conditions.some(({ field }) => clientFields.test(field));
  const hasKindCondition = conditions.some(({ field }) => field === 'kind');
  if (!hasServerSpans) return [[]];
  const isNamed = conditions.some(({ field }) => field === 'name');
  if (!hasClientField && !hasKindCondition && meansServedRequests(draft, isNamed)) return [[serverSpan]];
  // Outgoing calls are recorded by client spans only.
  if (nouns.has('calls') && !hasKindCondition) return hasClientField ? [[clientSpan]] : [[serverSpan], [clientSpan]];
  if (nouns.has('requests') && !hasKindCondition) return getRequestConditions(draft);
  const isDuration = nouns.has('latency') || isBarePercentile(draft);
  return isDuration && !nouns.has('spans') && !hasClientField && !isNamed ? [[serverSpan]] : [[]];
};

/** "P99 of cart" is about the requests of the service. */
const isBarePercentile = ({ nouns, measures, unassignedFields: fields }: Draft): boolean =>
  nouns.size === 0 && measures.some(({ function: name }) => name === 'percentile') && !fields.some(isQuantity);

/**
 * Returns whether a question without a noun is about requests that services serve: an HTTP status, what requests are
 * for, or a number of failures. Otherwise, one failed request counts once per service and call that it went through.
 */
const meansServedRequests = (draft: Draft, isNamed: boolean): boolean => {
  const { nouns, conditions, measures } = draft;
  if (['calls', 'requests', 'spans', 'traces'].some((noun) => nouns.has(noun as 'calls'))) return false;
  if (conditions.some(({ isRequest }) => isRequest)) return true;
  if (isNamed) return false;
  if (conditions.some(({ field, isNumerator }) => isNumerator && statusField.test(field))) return true;
  const countsFailures = conditions.some(({ field, isNumerator }) => isNumerator && field === 'status');
  return countsFailures && (isCounted(draft) || measures.length > 0);
};

/**
 * "Requests that cart sends" are outgoing calls. "Requests from cart" are ambiguous: outgoing calls, or requests
 * that it serves.
 */
const getRequestConditions = ({ conditions, groupBy, aggregationWords: words }: Draft): Conditions[] => {
  const services = conditions.filter(({ field }) => field === 'service');
  if (words.has('sent') && (services.length > 0 || groupBy.includes('service'))) return [[clientSpan]];
  return services.some(({ isOrigin }) => isOrigin === true) ? [[serverSpan], [clientSpan]] : [[serverSpan]];
};

/** Returns the measures of the query: an empty list returns rows, and several lists are alternatives. */
const chooseMeasures = (draft: Draft, signal: Signal): (readonly Measure[])[] => {
  const { measures, aggregationWords: words, distinct } = draft;
  const field = findMeasuredField(draft);
  const fieldMeasuresOfDraft = createFieldMeasures(draft, signal, field);
  if (fieldMeasuresOfDraft.length > 0) return [[...createExtraMeasures(draft), ...fieldMeasuresOfDraft]];
  const isOrderedByDuration = words.has('slowest') || words.has('fastest');
  const hasGroups = draft.groupBy.length + draft.unassignedFields.length > 0;
  if (isOrderedByDuration && (field === undefined || (field === 'duration' && !hasGroups)))
    return createDurationMeasures(draft, signal);
  if (field !== undefined)
    return createDefaultMeasures(field).map((measures) => [...createExtraMeasures(draft), ...measures]);
  if (distinct.length > 0) return [distinct.map((name) => ({ function: 'distinct', field: name }))];
  return measures.length > 0 ? [[{ function: 'rate' }]] : createCountMeasures(draft);
};

/** Returns measures of a field: averages, percentiles, sums. */
const createFieldMeasures = (draft: Draft, signal: Signal, field: string | undefined): Measure[] => {
  const fieldMeasuresOfDraft = draft.measures.filter(({ function: name }) => name !== 'rate');
  // For spans, only percentiles of the duration need no field name.
  const isSpanPercentile =
    signal === 'traces' && fieldMeasuresOfDraft.every(({ function: name }) => name === 'percentile');
  if (field === undefined && isSpanPercentile)
    return fieldMeasuresOfDraft.map((measure) => withField(measure, 'duration', draft));
  if (draft.aggregationWords.has('total') && field !== undefined) fieldMeasuresOfDraft.push({ function: 'sum' });
  return fieldMeasuresOfDraft.map((figure) => withField(figure, field, draft));
};

/** "Number of requests and average latency": counts of records in addition to a measure of a field. */
const createExtraMeasures = ({ aggregationWords: words, nouns, measures }: Draft): Measure[] => [
  ...(words.has('count') && nouns.has('latency') ? [{ function: 'count' as const }] : []),
  ...measures.filter(({ function: name }) => name === 'rate'),
];

const createCountMeasures = (draft: Draft): (readonly Measure[])[] => {
  if (!isCounted(draft)) return [[]];
  if (isRankedAlone(draft)) throw new UnclearQuestionError('"most" has no field: name a field, such as "by service"');
  return [[draft.nouns.has('traces') ? { function: 'distinct', field: 'traceId' } : { function: 'count' }]];
};

/** Returns the field of the measures. */
const findMeasuredField = ({
  unassignedFields: fields,
  nouns,
  aggregationWords: words,
  measures,
}: Draft): string | undefined => {
  const numbers = fields.filter((namedField) => isQuantity(namedField)).map(({ field }) => field);
  if (numbers.length > 1)
    throw new UnclearQuestionError(`the question contains several numeric fields, ${numbers.join(' and ')}: use one`);
  const field = nouns.has('latency') ? 'duration' : numbers[0];
  if (field !== undefined && field !== 'duration' && words.has('count') && measures.length === 0)
    throw new UnclearQuestionError(`${field} is a number: use its sum, average or another aggregation`);
  return field;
};

/** Returns whether a number is a quantity; codes and ids have no meaningful mean. */
const isQuantity = ({ field, isNumber }: NamedField): boolean =>
  isNumber && !/(?:^|[._])(?:code|id|port|number|status|version)$/i.test(field);

const createDurationMeasures = (
  { aggregationWords: words, groupBy, unassignedFields: fields }: Draft,
  signal: Signal,
): (readonly Measure[])[] => {
  if (signal === 'logs') throw new UnclearQuestionError('log records have no duration: query requests or spans');
  if (groupBy.length + fields.length > 0) return createDefaultMeasures('duration');
  return [[{ function: words.has('slowest') ? 'max' : 'min', field: 'duration' }]];
};

const isRankedAlone = ({ aggregationWords: words, groupBy, unassignedFields: fields }: Draft): boolean =>
  (words.has('most') || words.has('least')) && groupBy.length + fields.length === 0;

const isCounted = ({ aggregationWords: ways, groupBy, stepMs, unassignedFields: loose, having }: Draft): boolean =>
  having !== undefined ||
  groupBy.length > 0 ||
  loose.length > 0 ||
  stepMs !== undefined ||
  ['count', 'total', 'overTime', 'most', 'least', 'compare'].some((way) => ways.has(way as 'count'));

/** "Latency of checkout" may be a mean or a high percentile. */
const createDefaultMeasures = (field: string): (readonly Measure[])[] => [
  [{ function: 'percentile', percentile: 95, field }],
  [{ function: 'avg', field }],
];

const withField = (measure: MeasureFunction, field: string | undefined, { nouns }: Draft): Measure => {
  if (field !== undefined) return { ...measure, field };
  const fieldHint = nouns.has('logs') ? 'a field of the log records' : 'the duration or another field';
  throw new UnclearQuestionError(`the ${formatFunctionName(measure)} has no field: name ${fieldHint}`);
};

const formatFunctionName = ({ function: name, percentile }: MeasureFunction): string =>
  name === 'percentile'
    ? `${percentile}th percentile`
    : ({ avg: 'average', max: 'maximum', min: 'minimum', sum: 'sum' }[name as 'avg'] ?? name);

const toSearchFields = (conditions: Conditions): { readonly search?: string } =>
  conditions.length === 0 ? {} : { search: conditions.map(({ search }) => search).join(' ') };

const getStepMs = ({ stepMs, aggregationWords: words }: Draft): Meaning['stepMs'] =>
  stepMs ?? (words.has('overTime') ? 'usual' : undefined);

const isRankedBy = ({ aggregationWords: ways }: Draft): boolean =>
  ['most', 'least', 'slowest', 'fastest'].some((way) => ways.has(way as 'most'));

const createQuery = (draft: Draft, signal: Signal, conditions: Conditions, measures: readonly Measure[]): Meaning => {
  const stepFields = { stepMs: getStepMs(draft) };
  if (measures.length === 0) return { ...stepFields, ...createRowsQuery(draft, signal, conditions) };
  const { aggregationWords: words } = draft;
  const isReverse = words.has('least') || words.has('fastest');
  const spanGroups = getSpanGroups(draft, measures);
  const groupBy = spanGroups ?? chooseGroups(draft, measures);
  rejectOrders(draft, groupBy);
  const isRanked = groupBy.length > 0 && isRankedBy(draft);
  const limit = draft.limit ?? (isRanked ? defaultGroupLimit : undefined);
  const having = toRecordsHaving(draft, groupBy, measures);
  const isSelection = limit !== undefined || having !== undefined;
  const all = isSelection && spanGroups === undefined ? addGroupConditions(conditions, groupBy, signal) : conditions;
  return {
    ...stepFields,
    conditions: all.map(({ search }) => search),
    query: {
      kind: 'aggregate',
      signal,
      ...toSearchFields(all),
      measures: [...measures],
      groupBy,
      ...(having === undefined ? {} : { having }),
      ...(isReverse ? { order: { by: getMeasureName(measures[0] as Measure), direction: 'ascending' as const } } : {}),
      ...(limit === undefined ? {} : { limit }),
    },
  };
};

/** Rejects an order or limit that would have no effect: on a single value, or by time on an aggregation. */
const rejectOrders = ({ aggregationWords: words, limit }: Draft, groupBy: readonly string[]): void => {
  if (groupBy.length === 0 && (words.has('most') || words.has('least') || limit !== undefined))
    throw new UnclearQuestionError('the order has no field: name a field, such as "by service"');
  if (words.has('newest') || words.has('oldest'))
    throw new UnclearQuestionError('aggregations have no first or last: query the records, or name a range');
};

/** Excludes records without the ranked field, because they form no group: "top 5 users" has five users. */
const addGroupConditions = (conditions: Conditions, groupBy: readonly string[], signal: Signal): Conditions => {
  const isOwn = (name: string): boolean => resolveReference(signalDefinitions[signal].fields, name).kind === 'field';
  const missingFields = groupBy.filter((name) => !isOwn(name) && !conditions.some(({ field }) => field === name));
  return [...conditions, ...missingFields.map(createExistenceCondition)];
};

/** "The slowest requests" are single spans ordered by duration. */
const getSpanGroups = (
  { aggregationWords: words, groupBy, unassignedFields: fields, nouns }: Draft,
  measures: readonly Measure[],
): string[] | undefined => {
  if (nouns.has('latency') && !hasRecordNoun(nouns)) return undefined;
  const isSpanList = (words.has('slowest') || words.has('fastest')) && groupBy.length + fields.length === 0;
  return isSpanList && measures.every(({ field }) => field === 'duration')
    ? ['service', 'name', 'traceId', 'spanId']
    : undefined;
};

/** Fields that are not measured are groups: "services with the most errors". */
const chooseGroups = (
  { groupBy, unassignedFields: fields, aggregationWords: words, limit, having }: Draft,
  measures: readonly Measure[],
): string[] => {
  const unassignedGroups = fields
    .map(({ field }) => field)
    .filter((field) => !measures.some((measure) => measure.field === field));
  const isRanked =
    limit !== undefined ||
    having !== undefined ||
    ['most', 'least', 'slowest', 'fastest', 'which'].some((way) => words.has(way as 'most'));
  if (unassignedGroups.length > 0 && (!isRanked || groupBy.length > 0))
    throw new UnclearQuestionError(
      `the question contains ${unassignedGroups.join(' and ')} without a purpose: write "by ${unassignedGroups[0]}", or a value of it`,
    );
  return [...groupBy, ...unassignedGroups];
};

const createRowsQuery = (
  { nouns, aggregationWords: words, limit }: Draft,
  signal: Signal,
  conditions: Conditions,
): Pick<Meaning, 'query' | 'conditions'> => {
  // Root spans do not record the outgoing calls of a service.
  const isLimitedToRoots =
    nouns.has('traces') && !conditions.some(({ field }) => clientFields.test(field) || field === 'traceId');
  const all = isLimitedToRoots ? [rootSpan, ...conditions] : conditions;
  return {
    conditions: all.map(({ search }) => search),
    query: {
      kind: 'rows',
      signal,
      ...toSearchFields(all),
      ...(words.has('oldest') ? { order: 'oldest' as const } : {}),
      ...(limit === undefined ? {} : { limit }),
    },
  };
};

/**
 * Returns the numerator of a share: failures, otherwise a comparison such as a duration, otherwise the only condition.
 */
const numeratorConditions = ({ conditions }: Draft): Conditions => {
  const explicitParts = conditions.filter(({ isNumerator }) => isNumerator === true);
  const comparisons = conditions.filter(({ search }) => /:(?:[<>]|\[)/.test(search));
  return explicitParts.length > 0
    ? explicitParts
    : comparisons.length > 0 || conditions.length > 1
      ? comparisons
      : conditions;
};

/** "What percentage of matches is abandoned" is a share of the records with a `match.outcome`. */
const findDescribedField = ({ aggregationWords: words, nouns }: Draft, part: Conditions): string | undefined => {
  const [condition, second] = part;
  return words.has('description') && nouns.size === 0 && second === undefined && condition?.value !== undefined
    ? condition.field
    : undefined;
};

/** Returns a share in percent. Failures define the numerator; all other conditions apply to both. */
const buildShare = (draft: Draft, signal: Signal, noun: Conditions, hasServerSpans: boolean): Meaning => {
  const part = numeratorConditions(draft);
  const describedField = findDescribedField(draft, part);
  if (part.length === 0)
    throw new UnclearQuestionError('the share has no condition: use the share of errors, or of a status such as 5xx');
  if (signal === 'logs' && !draft.nouns.has('logs') && describedField === undefined)
    throw new UnclearQuestionError('a share of log records needs the word "logs"');
  const isBare =
    describedField === undefined &&
    signal === 'traces' &&
    noun.length === 0 &&
    hasServerSpans &&
    !draft.nouns.has('spans') &&
    !draft.nouns.has('traces');
  const groupBy = chooseGroups(draft, []);
  const isRanked = draft.aggregationWords.has('most') || draft.aggregationWords.has('which');
  const having = toRecordsHaving(draft, groupBy, []);
  const limit = draft.limit ?? (isRanked && groupBy.length > 0 && having === undefined ? defaultGroupLimit : undefined);
  const wholeConditions = [
    ...(isBare ? [serverSpan] : noun),
    ...(describedField === undefined ? [] : [createExistenceCondition(describedField)]),
    ...draft.conditions.filter((condition) => !part.includes(condition)),
  ];
  const isSelection = limit !== undefined || having !== undefined;
  const all = isSelection ? addGroupConditions(wholeConditions, groupBy, signal) : wholeConditions;
  const createCountQuery = (measure: Measure): QueryRequest => ({
    kind: 'aggregate',
    signal,
    ...toSearchFields(all),
    measures: [measure],
    groupBy,
  });
  type AggregateRequest = Extract<QueryRequest, { kind: 'aggregate' }>;
  return {
    stepMs: getStepMs(draft),
    conditions: all.map(({ search }) => search),
    query: {
      kind: 'formula',
      expression: '100 * part / whole',
      queries: {
        part: createCountQuery({ function: 'count', ...toSearchFields(part) }) as AggregateRequest,
        whole: createCountQuery({ function: 'count' }) as AggregateRequest,
      },
      ...(having === undefined ? {} : { having }),
      ...(limit === undefined ? {} : { limit }),
    },
  };
};
