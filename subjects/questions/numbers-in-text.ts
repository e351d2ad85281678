/** Parses words with numbers: steps, percentiles, limits, statuses */
import { isUnit } from './conditions.ts';
import type { Lexicon } from './lexicon.ts';
import { createSingleMark, type Mark, type MarkCandidates } from './marks.ts';
import { parseNumber, unitToMs } from './quantities.ts';
import type { Vocabulary } from './vocabulary.ts';
import type { Word } from './words.ts';

const getLower = (words: readonly Word[], position: number): string => words[position]?.lower ?? '';

const adverbs: ReadonlyMap<string, string> = new Map([
  ['hourly', 'hour'],
  ['daily', 'day'],
  ['weekly', 'week'],
  ['minutely', 'minute'],
]);

const toStep = (words: number, stepMs: number): MarkCandidates | undefined =>
  Number.isSafeInteger(stepMs) && stepMs >= 1000 ? createSingleMark(words, { is: 'step', stepMs }) : undefined;

/**
 * Parses `per minute`, `every 5 minutes`, `hourly`, `by day`. A step of one second is not supported, because "per
 * second" means a rate.
 */
export const parseStep = (words: readonly Word[], position: number): MarkCandidates | undefined => {
  const adverb = adverbs.get(getLower(words, position));
  if (adverb !== undefined) return toStep(1, unitToMs(adverb) ?? 0);
  const intervals = parseInterval(words, position);
  if (intervals !== undefined) return intervals;
  const introWordCount = countIntroWords(words, position);
  if (introWordCount === 0) return parseJoinedStep(words, position);
  const isArticle = introWordCount === 1 && ['a', 'an'].includes(getLower(words, position));
  const number = isArticle ? undefined : parseNumber(words[position + introWordCount]);
  if (number === undefined) {
    const unit = parseUnitName(words[position + introWordCount]);
    return unit === undefined || unit < 60_000 ? undefined : toStep(introWordCount + 1, unit);
  }
  if (number.unit !== '') return toStep(introWordCount + 1, number.value * (unitToMs(number.unit) ?? 0));
  return toStep(introWordCount + 2, number.value * (parseUnitName(words[position + introWordCount + 1]) ?? 0));
};

/** Parses the `day` of "per ward and day". */
const parseJoinedStep = (words: readonly Word[], position: number): MarkCandidates | undefined => {
  const isJoined = getLower(words, position - 1) === 'and';
  const isGrouped = words
    .slice(Math.max(0, position - 5), position)
    .some(({ lower }) => lower === 'per' || lower === 'by');
  const unit = isJoined && isGrouped ? parseUnitName(words[position]) : undefined;
  return unit === undefined || unit < 60_000 ? undefined : toStep(1, unit);
};

const intervalWord = /^(?:interval|step|bucket|increment|resolution|granularity|window)$/;

/** Parses `in 5 minute intervals`, `5-minute buckets`. */
const parseInterval = (words: readonly Word[], position: number): MarkCandidates | undefined => {
  const prepositionCount = ['in', 'at', 'with', 'by', 'using'].includes(getLower(words, position)) ? 1 : 0;
  const [, digits, unit] = /^(\d{1,4})-?([a-z]+)?$/.exec(getLower(words, position + prepositionCount)) ?? [];
  if (digits === undefined) return undefined;
  const offset = position + prepositionCount + (unit === undefined ? 2 : 1);
  if (!intervalWord.test(words[offset]?.stem ?? '')) return undefined;
  const ms = unitToMs(unit ?? words[offset - 1]?.stem);
  return ms === undefined ? undefined : toStep(offset + 1 - position, Number(digits) * ms);
};

/** Returns the number of words that introduce a unit: `per`, `in each`. */
const countIntroWords = (words: readonly Word[], position: number): number => {
  const lower = getLower(words, position);
  if (['per', 'by', 'every', 'each', 'a', 'an'].includes(lower)) return 1;
  return ['in', 'for'].includes(lower) && ['each', 'every'].includes(getLower(words, position + 1)) ? 2 : 0;
};

const parseUnitName = (word: Word | undefined): number | undefined =>
  word !== undefined && word.stem.length >= 3 ? unitToMs(word.stem) : undefined;

/** Parses `p95`, `95th percentile`, `percentile 95`. */
export const parsePercentile = (words: readonly Word[], position: number): MarkCandidates | undefined => {
  const createPercentileMark = (length: number, percentile: string): MarkCandidates =>
    createSingleMark(length, { is: 'figure', measure: { function: 'percentile', percentile: Number(percentile) } });
  const [, short] = /^p(\d{1,2}(?:\.\d{1,3})?|100)$/.exec(getLower(words, position)) ?? [];
  if (short !== undefined) return createPercentileMark(1, short);
  const [, ordinal] = /^(\d{1,2}(?:\.\d{1,3})?)(?:th|st|nd|rd)?$/.exec(getLower(words, position)) ?? [];
  if (ordinal !== undefined)
    return ['percentile', 'percentiles', 'quantile'].includes(getLower(words, position + 1))
      ? createPercentileMark(2, ordinal)
      : undefined;
  const [digitsAfter] = /^\d{1,2}(?:\.\d{1,3})?$/.exec(getLower(words, position + 1)) ?? [];
  return getLower(words, position) === 'percentile' && digitsAfter !== undefined
    ? createPercentileMark(2, digitsAfter)
    : undefined;
};

const orderWords = /^(?:top|bottom|slowest|fastest|latest|last|newest|oldest|first)$/;
/** After a number, these words are an order; before it, they refer to the number: "the most 503". */
const trailingOrderWords = /^(?:busiest|highest|lowest|most|least|noisiest)$/;
const listVerbs: ReadonlySet<string> = new Set([
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
  position: number,
  { vocabulary, lexicon }: { readonly vocabulary: Vocabulary; readonly lexicon: Lexicon },
): MarkCandidates | undefined => {
  const number = parseNumber(words[position]);
  const isCount = number?.unit === '' && Number.isInteger(number.value) && number.value >= 1;
  if (!isCount || ['a', 'an'].includes(getLower(words, position))) return undefined;
  const [previousStem, nextStem] = [words[position - 1]?.stem ?? '', words[position + 1]?.stem ?? ''];
  const secondStem = words[position + 2]?.stem ?? '';
  const isFollowedByNoun = [nextStem, secondStem].some((stem) => vocabulary.get(stem)?.is === 'noun');
  const isListed =
    listVerbs.has(previousStem) &&
    (isFollowedByNoun || [nextStem, secondStem].some((stem) => vocabulary.get(stem)?.is === 'condition')) &&
    !isUnit(nextStem);
  // "Which three routes": several values of a group.
  const isPlural = words[position + 1]?.lower !== nextStem && number.value <= maxGroups;
  const isGroupCount = isPlural && lexicon.fieldAt(words, position + 1) !== undefined;
  return orderWords.test(previousStem) ||
    orderWords.test(nextStem) ||
    trailingOrderWords.test(nextStem) ||
    isListed ||
    isGroupCount
    ? createSingleMark(1, { is: 'limit', limit: Math.min(number.value, maxLimit) })
    : undefined;
};

/** Reason phrases of RFC 9110 and what people say for them */
const statusNames: ReadonlyMap<string, string> = new Map([
  ['bad request', '400'],
  ['unauthorized', '401'],
  ['unauthorised', '401'],
  ['forbidden', '403'],
  ['conflicts', '409'],
  ['rate limited', '429'],
  ['throttled', '429'],
  ['too many requests', '429'],
  ['internal server error', '500'],
  ['internal server errors', '500'],
  ['bad gateway', '502'],
  ['service unavailable', '503'],
  ['gateway timeout', '504'],
  ['gateway timeouts', '504'],
]);
const maxStatusNameWords = 3;

/** Parses `unauthorized` and `bad gateway` as statuses that records have. */
const parseStatusName = (words: readonly Word[], position: number, lexicon: Lexicon): MarkCandidates | undefined => {
  for (let length = maxStatusNameWords; length > 0; length--) {
    const name = words
      .slice(position, position + length)
      .map(({ lower }) => lower)
      .join(' ');
    const status = statusNames.get(name);
    const fields = lexicon.fields.filter(
      ({ name: field, values }) => status !== undefined && statusField.test(field) && values.includes(status),
    );
    if (status === undefined || fields.length === 0) continue;
    const marks = fields.map(
      ({ name: field }): Mark => ({
        is: 'condition',
        condition: { search: `${field}:${status}`, field, isNumerator: true, value: status },
      }),
    );
    return { words: length, marks };
  }
  return undefined;
};

const statusWords: ReadonlySet<string> = new Set(['status', 'statuses', 'http', 'code']);
const statusCodeContext =
  /^(?:returned|return|returning|response|error|answered|with|got|gave|code|was|were|many|most|hit|hitting|get|getting|saw|served|threw|any)$/;
/** Fields that contain HTTP statuses */
export const statusField = /(?:^|\.)status_?code$/i;

/** Parses `5xx`, `status 500`, `404s`, `HTTP 503` and `unauthorized` as conditions on HTTP status fields. */
export const parseStatus = (words: readonly Word[], position: number, lexicon: Lexicon): MarkCandidates | undefined =>
  parseStatusName(words, position, lexicon) ?? parseStatusCode(words, position, lexicon);

const parseStatusCode = (words: readonly Word[], position: number, lexicon: Lexicon): MarkCandidates | undefined => {
  let offset = position;
  while (offset < position + 3 && statusWords.has(getLower(words, offset))) offset++;
  if (offset > position && ['of', 'is', '='].includes(getLower(words, offset))) offset++;
  const [, digit, rest] = /^([1-5])(xx|\d\d)s?$/.exec(getLower(words, offset)) ?? [];
  if (digit === undefined || rest === undefined) return undefined;
  const isKnownFailure =
    /^[45]/.test(digit) &&
    (position === 0 || ['of', 'to', 'and', 'or'].includes(getLower(words, position - 1))) &&
    lexicon.fields.some(({ name, values }) => statusField.test(name) && values.includes(`${digit}${rest}`));
  if (
    offset === position &&
    rest !== 'xx' &&
    (!(isKnownFailure || isStatusAlone(words, position)) || isUnit(words[position + 1]?.stem ?? ''))
  )
    return undefined;
  const fields = lexicon.fields.filter(({ name }) => statusField.test(name));
  if (fields.length === 0) return undefined;
  const marks = fields.map(({ name }): Mark => {
    const condition =
      rest === 'xx'
        ? { search: `${name}:[${digit}00 TO ${digit}99]`, field: name, isNumerator: true as const }
        : { search: `${name}:${digit}${rest}`, field: name, isNumerator: true as const, value: `${digit}${rest}` };
    return { is: 'condition', condition };
  });
  return { words: offset + 1 - position, marks };
};

/** Returns whether a number alone is a status: "404s", "404 responses", "returned 500". */
const isStatusAlone = (words: readonly Word[], position: number): boolean =>
  getLower(words, position).endsWith('s') ||
  statusCodeContext.test(
    getLower(words, ['a', 'an'].includes(getLower(words, position - 1)) ? position - 2 : position - 1),
  ) ||
  statusCodeContext.test(words[position + 1]?.stem ?? '');
