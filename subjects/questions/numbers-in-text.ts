/** Parses words with numbers: steps, percentiles, limits, statuses */
import { isUnit } from './conditions.ts';
import type { Lexicon } from './lexicon.ts';
import { type Mark, type MarkCandidates, singleMark } from './marks.ts';
import { parseNumber, unitToMs } from './quantities.ts';
import type { Vocabulary } from './vocabulary.ts';
import type { Word } from './words.ts';

const lowerAt = (words: readonly Word[], at: number): string => words[at]?.lower ?? '';

const adverbs: ReadonlyMap<string, string> = new Map([
  ['hourly', 'hour'],
  ['daily', 'day'],
  ['weekly', 'week'],
  ['minutely', 'minute'],
]);

const toStep = (words: number, stepMs: number): MarkCandidates | undefined =>
  Number.isSafeInteger(stepMs) && stepMs >= 1000 ? singleMark(words, { is: 'step', stepMs }) : undefined;

/** Parses `per minute`, `every 5 minutes`, `hourly`, `by day`. A second is the unit of rates instead. */
export const parseStep = (words: readonly Word[], at: number): MarkCandidates | undefined => {
  const adverb = adverbs.get(lowerAt(words, at));
  if (adverb !== undefined) return toStep(1, unitToMs(adverb) ?? 0);
  const intervals = parseInterval(words, at);
  if (intervals !== undefined) return intervals;
  const before = countIntroWords(words, at);
  if (before === 0) return undefined;
  const isArticle = before === 1 && ['a', 'an'].includes(lowerAt(words, at));
  const number = isArticle ? undefined : parseNumber(words[at + before]);
  if (number === undefined) {
    const unit = parseUnitName(words[at + before]);
    return unit === undefined || unit < 60_000 ? undefined : toStep(before + 1, unit);
  }
  if (number.unit !== '') return toStep(before + 1, number.value * (unitToMs(number.unit) ?? 0));
  return toStep(before + 2, number.value * (parseUnitName(words[at + before + 1]) ?? 0));
};

const intervalWord = /^(?:interval|step|bucket|increment|resolution|granularity|window)$/;

/** Parses `in 5 minute intervals`, `5-minute buckets`. */
const parseInterval = (words: readonly Word[], at: number): MarkCandidates | undefined => {
  const before = ['in', 'at', 'with', 'by', 'using'].includes(lowerAt(words, at)) ? 1 : 0;
  const [, digits, unit] = /^(\d{1,4})-?([a-z]+)?$/.exec(lowerAt(words, at + before)) ?? [];
  if (digits === undefined) return undefined;
  const place = at + before + (unit === undefined ? 2 : 1);
  if (!intervalWord.test(words[place]?.stem ?? '')) return undefined;
  const ms = unitToMs(unit ?? words[place - 1]?.stem);
  return ms === undefined ? undefined : toStep(place + 1 - at, Number(digits) * ms);
};

/** Returns the number of words that introduce a unit: `per`, `in each`. */
const countIntroWords = (words: readonly Word[], at: number): number => {
  const lower = lowerAt(words, at);
  if (['per', 'by', 'every', 'each', 'a', 'an'].includes(lower)) return 1;
  return ['in', 'for'].includes(lower) && ['each', 'every'].includes(lowerAt(words, at + 1)) ? 2 : 0;
};

const parseUnitName = (word: Word | undefined): number | undefined =>
  word !== undefined && word.stem.length >= 3 ? unitToMs(word.stem) : undefined;

/** Parses `p95`, `95th percentile`, `percentile 95`. */
export const parsePercentile = (words: readonly Word[], at: number): MarkCandidates | undefined => {
  const figure = (length: number, percentile: string): MarkCandidates =>
    singleMark(length, { is: 'figure', figure: { function: 'percentile', percentile: Number(percentile) } });
  const [, short] = /^p(\d{1,2}(?:\.\d{1,3})?|100)$/.exec(lowerAt(words, at)) ?? [];
  if (short !== undefined) return figure(1, short);
  const [, ordinal] = /^(\d{1,2}(?:\.\d{1,3})?)(?:th|st|nd|rd)?$/.exec(lowerAt(words, at)) ?? [];
  if (ordinal !== undefined)
    return ['percentile', 'percentiles', 'quantile'].includes(lowerAt(words, at + 1)) ? figure(2, ordinal) : undefined;
  const [behind] = /^\d{1,2}(?:\.\d{1,3})?$/.exec(lowerAt(words, at + 1)) ?? [];
  return lowerAt(words, at) === 'percentile' && behind !== undefined ? figure(2, behind) : undefined;
};

const orderWords = /^(?:top|bottom|slowest|fastest|latest|last|newest|oldest|first)$/;
/** After a number, these words are an order; before it, they refer to the number: "the most 503". */
const trailingOrderWords = /^(?:busiest|highest|lowest|most|least|noisiest)$/;
const listing: ReadonlySet<string> = new Set([
  'show',
  'list',
  'give',
  'me',
  'display',
  'find',
  'fetch',
  'get',
  'print',
]);
const maxLimit = 10_000;
const maxGroups = 1_000;

/** Parses `top 5`, `5 slowest`, `latest 20`, `show 10 logs`: the number, next to the word that it limits. */
export const parseLimit = (
  words: readonly Word[],
  at: number,
  { vocabulary, lexicon }: { readonly vocabulary: Vocabulary; readonly lexicon: Lexicon },
): MarkCandidates | undefined => {
  const number = parseNumber(words[at]);
  const isCount = number?.unit === '' && Number.isInteger(number.value) && number.value >= 1;
  if (!isCount || ['a', 'an'].includes(lowerAt(words, at))) return undefined;
  const [before, behind] = [words[at - 1]?.stem ?? '', words[at + 1]?.stem ?? ''];
  const isFollowedByNoun = [behind, words[at + 2]?.stem ?? ''].some((stem) => vocabulary.get(stem)?.is === 'noun');
  const isListed =
    listing.has(before) && (isFollowedByNoun || vocabulary.get(behind)?.is === 'condition') && !isUnit(behind);
  // "Which three routes": several values of a group.
  const isPlural = words[at + 1]?.lower !== behind && number.value <= maxGroups;
  const isGroups = isPlural && lexicon.fieldAt(words, at + 1) !== undefined;
  return orderWords.test(before) || orderWords.test(behind) || trailingOrderWords.test(behind) || isListed || isGroups
    ? singleMark(1, { is: 'limit', limit: Math.min(number.value, maxLimit) })
    : undefined;
};

const statusWords: ReadonlySet<string> = new Set(['status', 'statuses', 'http', 'code']);
const statusCodeContext =
  /^(?:returned|return|returning|response|error|answered|with|got|gave|code|was|were|many|most)$/;
/** Fields that contain HTTP statuses */
export const statusField = /(?:^|\.)status_?code$/i;

/** Parses `5xx`, `status 500`, `404s`, `HTTP 503` as conditions on HTTP status fields. */
export const parseStatus = (words: readonly Word[], at: number, lexicon: Lexicon): MarkCandidates | undefined => {
  let place = at;
  while (place < at + 3 && statusWords.has(lowerAt(words, place))) place++;
  if (place > at && ['of', 'is', '='].includes(lowerAt(words, place))) place++;
  const [, digit, rest] = /^([1-5])(xx|\d\d)s?$/.exec(lowerAt(words, place)) ?? [];
  if (digit === undefined || rest === undefined) return undefined;
  if (place === at && rest !== 'xx' && (!isStatusAlone(words, at) || isUnit(words[at + 1]?.stem ?? '')))
    return undefined;
  const fields = lexicon.fields.filter(({ name }) => statusField.test(name));
  if (fields.length === 0) return undefined;
  const marks = fields.map(({ name }): Mark => {
    const condition =
      rest === 'xx'
        ? { search: `${name}:[${digit}00 TO ${digit}99]`, field: name, isPart: true as const }
        : { search: `${name}:${digit}${rest}`, field: name, isPart: true as const, value: `${digit}${rest}` };
    return { is: 'condition', condition };
  });
  return { words: place + 1 - at, marks };
};

/** Returns whether a number alone is a status: "404s", "404 responses", "returned 500". */
const isStatusAlone = (words: readonly Word[], at: number): boolean =>
  lowerAt(words, at).endsWith('s') ||
  statusCodeContext.test(lowerAt(words, ['a', 'an'].includes(lowerAt(words, at - 1)) ? at - 2 : at - 1)) ||
  statusCodeContext.test(words[at + 1]?.stem ?? '');
