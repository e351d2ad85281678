/** Combines the drafts of two questions, of which the second continues the first: "errors of cart", "and of payments?" */
import type { Draft } from './assemble.ts';
import { isPeriodBefore } from './times.ts';

/** Words for the order of a result, of which the later question's replace the earlier ones' */
const orders = ['most', 'least', 'newest', 'oldest', 'slowest', 'fastest'] as const;
/** Words for a kind of aggregation, of which the later question's replace the earlier ones' */
const aggregations = ['count', 'total', 'current', 'share', 'distinct'] as const;

/** Returns the earlier draft with the parts that the later one has. A condition replaces those on the same field. */
export const continueDraft = (earlier: Draft, later: Draft): Draft => {
  const hasAggregation = later.measures.length > 0 || aggregations.some((word) => later.aggregationWords.has(word));
  const isReplaced = (word: string): boolean =>
    (hasAggregation && aggregations.some((other) => other === word)) ||
    (orders.some((order) => later.aggregationWords.has(order)) && orders.some((order) => order === word)) ||
    (later.aggregationWords.has('table') && word === 'overTime');
  const changedFields = new Set(later.conditions.map(({ field }) => field));
  const groupBy = selectGroups(earlier, later);
  const hasTimes = later.times.length + later.comparedTimes.length > 0;
  return {
    nouns: later.nouns.size > 0 ? later.nouns : earlier.nouns,
    conditions: [...earlier.conditions.filter(({ field }) => !changedFields.has(field)), ...later.conditions],
    measures: hasAggregation ? later.measures : earlier.measures,
    groupBy,
    unassignedFields: later.unassignedFields.length > 0 ? later.unassignedFields : earlier.unassignedFields,
    distinct: hasAggregation ? later.distinct : earlier.distinct,
    counted: [],
    times: hasTimes ? selectTimes(earlier, later) : earlier.times,
    comparedTimes: hasTimes ? later.comparedTimes : earlier.comparedTimes,
    aggregationWords: new Set([
      ...[...earlier.aggregationWords].filter((word) => !isReplaced(word)),
      ...later.aggregationWords,
      ...(losesCount(earlier, later, groupBy) ? (['count'] as const) : []),
    ]),
    limit: later.limit ?? earlier.limit,
    having: later.having ?? earlier.having,
    stepMs: later.aggregationWords.has('table') ? undefined : (later.stepMs ?? earlier.stepMs),
  };
};

/** Without steps or groups, "requests per minute" and "requests by region" are still a number of requests. */
const losesCount = (earlier: Draft, later: Draft, groupBy: readonly string[]): boolean => {
  const { nouns, measures, unassignedFields, stepMs } = earlier;
  if (measures.length + unassignedFields.length > 0 || nouns.has('metric') || nouns.has('latency')) return false;
  const losesStep = later.aggregationWords.has('table') && stepMs !== undefined;
  return losesStep || (groupBy.length === 0 && earlier.groupBy.length > 0);
};

/** "By region", then "only north", has no groups. */
const selectGroups = (earlier: Draft, later: Draft): string[] => {
  if (later.groupBy.length > 0) return later.groupBy;
  const selected = later.conditions.flatMap(({ field, value }) => (value === undefined ? [] : [field]));
  return earlier.groupBy.filter((field) => !selected.includes(field));
};

/** "Compared with yesterday" keeps the range of the earlier question, and "the week before" precedes it. */
const selectTimes = (earlier: Draft, later: Draft): Draft['times'] => {
  if (later.times.length === 0) return earlier.times;
  return later.times.every(isPeriodBefore) ? [...earlier.times, ...later.times] : later.times;
};
