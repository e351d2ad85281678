/** Meanings of words in questions about a metric, by its name and labels: "memory left", "traffic received" */
import { getQuantities } from './adjectives.ts';
import type { CatalogueMetric } from './catalogue.ts';
import { createEqualityCondition } from './conditions.ts';
import type { Lexicon } from './lexicon.ts';
import { createSingleMark, type Mark, type MarkCandidates } from './marks.ts';
import { countMetricWords } from './metric-phrases.ts';
import { matchPhrase } from './phrases.ts';
import { parseNumber } from './quantities.ts';
import { vocabularies } from './vocabulary.ts';
import { toRoot, type Word } from './words.ts';

interface WordsOfMetric {
  readonly words: readonly Word[];
  readonly lexicon: Lexicon;
  readonly metric: CatalogueMetric;
}

const noise: MarkCandidates = createSingleMark(1, { is: 'noise' });
const createValueMark = (field: string, value: string): Mark => ({
  is: 'condition',
  condition: createEqualityCondition(field, value),
});

/** What is left of a resource */
const freeWords: ReadonlySet<string> = new Set(['left', 'remaining', 'available', 'unused']);

/** Roots of directions of network traffic and disks */
const directions: Readonly<Record<string, string>> = Object.fromEntries(
  [
    [toRoot('receive'), 'incoming inbound ingress'],
    [toRoot('transmit'), 'sent outgoing outbound egress'],
  ].flatMap(([root = '', words = '']) => words.split(' ').map((word) => [word, root])),
);

/**
 * Matches words that state what all values of the metric are, such as the `waiting` of messages in a queue and the
 * `full` of "more than 80 % full", and "memory left" with the state free.
 */
export const matchStateOfMetric = (
  { words, lexicon, metric }: WordsOfMetric,
  position: number,
): MarkCandidates | undefined => {
  const lower = words[position]?.lower ?? '';
  const isQueue =
    metric.kind === 'gauge' && /(?:^|[._])(?:queue|backlog|lag|pending|waiting)(?:$|[._])/.test(metric.name);
  if (isQueue && /^(?:waiting|queued|pending|stuck)$/.test(lower)) return noise;
  const followsNumber = [1, 2].some((distance) => parseNumber(words[position - distance]) !== undefined);
  if (followsNumber && getQuantities(lower).length > 0) return noise;
  const state = freeWords.has(lower)
    ? lexicon.fields.find(({ name, values }) => /(?:^|\.)state$/.test(name) && values.includes('free'))
    : undefined;
  return state && createSingleMark(1, createValueMark(state.name, 'free'));
};

/** Matches "received" and "incoming" with the value `receive` of a label. */
export const matchVerbOfLabel = (
  { words, lexicon, metric }: WordsOfMetric,
  position: number,
): MarkCandidates | undefined => {
  const { is, stem = '' } = words[position] ?? {};
  const phrase = matchPhrase(words, position, vocabularies.metrics);
  const isFiller = phrase === undefined || phrase.mark.is === 'noise';
  if (is !== 'word' || stem.length < 4 || !isFiller || countMetricWords(words, position, metric) > 0) return undefined;
  const roots = [toRoot(stem), directions[stem]];
  const [found, second] = lexicon.fields.flatMap(({ name, values }) =>
    values.filter((value) => roots.includes(toRoot(value))).map((value) => createValueMark(name, value)),
  );
  return found === undefined || second !== undefined ? undefined : createSingleMark(1, found);
};

/** Matches "which gpu is the hottest" with the only label of `gpu.temperature`. */
export const matchOnlyLabel = (
  { words, lexicon, metric }: WordsOfMetric,
  position: number,
): MarkCandidates | undefined => {
  const [label, second] = lexicon.fields;
  const isGroup =
    /^(?:which|per|each)$/.test(words[position - 1]?.lower ?? '') && countMetricWords(words, position, metric) === 1;
  return isGroup && label !== undefined && second === undefined
    ? createSingleMark(1, { is: 'field', field: label.name, isNumber: false })
    : undefined;
};
