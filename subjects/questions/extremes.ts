/** Interprets superlatives such as "highest", "lowest" and "longest" that do not rank a field */
import type { Draft } from './assemble.ts';

/** Returns a draft in which superlatives are converted to measures or orders. */
export const resolveExtremes = (draft: Draft): Draft => resolveLongest(resolveExtreme(draft));

/**
 * "The highest latency" is one value, and "the highest latency by route" one value per route, unless the question
 * names the item to rank.
 */
const resolveExtreme = (draft: Draft): Draft => {
  const { aggregationWords: words, nouns, measures, groupBy, unassignedFields: fields, limit } = draft;
  const hasNumericField = nouns.has('latency') || fields.some(({ isNumber }) => isNumber);
  const isRanked = words.has('most') || words.has('least');
  const isGrouped = groupBy.length > 0 || fields.length > 1 || (nouns.has('latency') && fields.length > 0);
  const isOrder =
    isGrouped && (!words.has('extreme') || words.has('which') || fields.some(({ isNumber }) => !isNumber));
  if (!isRanked || !hasNumericField || limit !== undefined || isOrder || measures.length > 0) return draft;
  const otherWords = [...words].filter((way) => way !== 'most' && way !== 'least');
  return {
    ...draft,
    aggregationWords: new Set(otherWords),
    measures: [{ function: words.has('most') ? 'max' : 'min' }],
  };
};

export const hasRecordNoun = (nouns: Draft['nouns']): boolean =>
  (['requests', 'calls', 'spans', 'traces'] as const).some((noun) => nouns.has(noun));

/** "The longest requests" are those with the longest duration. */
const resolveLongest = (draft: Draft): Draft => {
  const { aggregationWords: words, nouns, conditions, measures, groupBy, unassignedFields: fields } = draft;
  const hasOtherFields = groupBy.length > 0 || fields.some(({ field }) => field !== 'duration');
  if (
    !words.has('longest') ||
    !(hasRecordNoun(nouns) || conditions.some(({ isRequest }) => isRequest)) ||
    nouns.has('latency') ||
    hasOtherFields
  )
    return draft;
  const isLongest = measures.some(({ function: name }) => name === 'max');
  return {
    ...draft,
    unassignedFields: [],
    aggregationWords: new Set([...words, isLongest ? 'slowest' : 'fastest']),
    measures: measures.filter(({ function: name }) => name !== 'max' && name !== 'min'),
  };
};
