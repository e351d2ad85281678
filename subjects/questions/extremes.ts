/** Superlatives such as "highest", "lowest" and "longest" without a ranked field */
import type { Draft } from './assemble.ts';

/** Returns a draft in which superlatives are converted to measures or orders. */
export const resolveExtremes = (draft: Draft): Draft => resolveLongest(resolveExtreme(draft));

/**
 * "The highest latency" is one value, and "the highest latency by route" one value per route, unless a ranked item is
 * named.
 */
const resolveExtreme = (draft: Draft): Draft => {
  const { aggregationWords: ways, nouns, figures, groupBy, unassignedFields: loose, limit } = draft;
  const hasNumericField = nouns.has('latency') || loose.some(({ isNumber }) => isNumber);
  const isRanked = ways.has('most') || ways.has('least');
  const isGrouped = groupBy.length > 0 || loose.length > 1 || (nouns.has('latency') && loose.length > 0);
  const isOrder = isGrouped && (!ways.has('extreme') || ways.has('which') || loose.some(({ isNumber }) => !isNumber));
  if (!isRanked || !hasNumericField || limit !== undefined || isOrder || figures.length > 0) return draft;
  const others = [...ways].filter((way) => way !== 'most' && way !== 'least');
  return { ...draft, aggregationWords: new Set(others), figures: [{ function: ways.has('most') ? 'max' : 'min' }] };
};

export const hasRecordNoun = (nouns: Draft['nouns']): boolean =>
  (['requests', 'calls', 'spans', 'traces'] as const).some((noun) => nouns.has(noun));

/** "The longest requests" are those with the longest duration. */
const resolveLongest = (draft: Draft): Draft => {
  const { aggregationWords: ways, nouns, figures, groupBy, unassignedFields: loose } = draft;
  const hasOtherFields = groupBy.length > 0 || loose.some(({ field }) => field !== 'duration');
  if (!ways.has('longest') || !hasRecordNoun(nouns) || nouns.has('latency') || hasOtherFields) return draft;
  const isLongest = figures.some(({ function: name }) => name === 'max');
  return {
    ...draft,
    unassignedFields: [],
    aggregationWords: new Set([...ways, isLongest ? 'slowest' : 'fastest']),
    figures: figures.filter(({ function: name }) => name !== 'max' && name !== 'min'),
  };
};
