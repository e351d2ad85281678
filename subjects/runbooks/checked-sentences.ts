/** Verifies sentences of a model against the passages that they cite */
import { isModelInstruction } from '../agents/instructions.ts';
import type { FoundPassage } from './passage-index.ts';
import { type CitedSentence, splitSentences } from './sentences.ts';
import { toStems } from './words.ts';

export interface ModelSentence {
  readonly text: string;
  /** Indexes in the list of passages */
  readonly sources: readonly number[];
}

export interface CheckedSentences {
  readonly sentences: readonly CitedSentence[];
  readonly excludedCount: number;
}

/** Minimum share of a sentence's words that its passages, and the supporting sentence of one, must contain */
const minWordShare = 0.75;
const codePattern = /`([^`]{1,500})`/g;
/** A scheme, a link of Markdown, or an address without a scheme */
const linkPattern = /\b[a-z][a-z0-9+.-]{1,20}:\/\/|(?:^|[\s("'])\/\/|\bwww\.|\]\(|\b(?:javascript|data|mailto):/i;
/** What separates names of hosts, files and addresses */
const separatorPattern = /[\s,;()<>"'`[\]]+/;
const hostPart = /^[a-z0-9-]{1,63}$/;
/** A number, and the word or sign behind it */
const quantityPattern = /(\d{1,30}(?:[.,]\d{1,30}){0,8})(?:\s?(%|[\p{L}µ]{1,30}))?/gu;
const negationPattern =
  /\b(?:not|never|no|none|nothing|without|cannot|neither|nor|avoid|unless|except|before|instead|stop|must not|\w{2,12}n['’]t)\b/gi;

const numberWords: Readonly<Record<string, string>> = Object.fromEntries(
  'zero one two three four five six seven eight nine ten eleven twelve'
    .split(' ')
    .map((word, number) => [word, String(number)]),
);

/** Units by their spoken and short forms; a unit with another name is compared as it is */
const unitForms: Readonly<Record<string, string>> = {
  s: 'second',
  sec: 'second',
  secs: 'second',
  seconds: 'second',
  m: 'minute',
  min: 'minute',
  mins: 'minute',
  minutes: 'minute',
  h: 'hour',
  hr: 'hour',
  hrs: 'hour',
  hours: 'hour',
  d: 'day',
  days: 'day',
  percent: '%',
};

/** Returns a text in which digits and number words are digits of ASCII. */
const normalizeNumbers = (text: string): string =>
  text
    .normalize('NFKC')
    .replace(/\b(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b/gi, (word) =>
      String(numberWords[word.toLowerCase()]),
    );

/** Returns the numbers of a text with their units, such as `15 minute`. */
const extractQuantities = (text: string): Set<string> =>
  new Set(
    [...normalizeNumbers(text).matchAll(quantityPattern)].map(([, number = '', unit = '']) => {
      const word = unit.toLowerCase();
      return `${number} ${unitForms[word] ?? word}`.trim();
    }),
  );

/** Returns whether a word is the name of a host or file, or an address of IP or e-mail. */
const isAddress = (word: string): boolean => {
  if (word.includes('@') || word.includes('//')) return true;
  const [host = ''] = word.split(/[:/]/, 1);
  const parts = host.split('.');
  const isNumber = parts.every((part) => /^\d{1,20}$/.test(part));
  return parts.length > 1 && parts.every((part) => hostPart.test(part)) && (!isNumber || parts.length === 4);
};

const extractAddresses = (text: string): string[] =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .split(separatorPattern)
    .map((word) => trimEnd(word))
    .filter(isAddress);

const trimEnd = (word: string): string => {
  let end = word.length;
  while (end > 0 && '.:/!?'.includes(word[end - 1] as string)) end--;
  return word.slice(0, end);
};

/** Returns the negations of a text: a statement and its opposite differ in them. */
const extractNegations = (text: string): string =>
  [...text.matchAll(negationPattern)]
    .map(([word]) => (/^(?:not|cannot|must not)$|n['’]t$/i.test(word) ? 'not' : word.toLowerCase()))
    .sort()
    .join(' ');

/** Verbs that change something; they must be in the passages, however many other words are */
const actionStems = toStems(
  'delete drop remove restart reboot disable enable stop kill terminate truncate format wipe erase purge promote demote rollback revert scale drain cordon deploy uninstall shutdown overwrite reset flush detach revoke rotate silence mute ignore bypass run execute install',
);

const getShare = (stems: readonly string[], sourceStems: ReadonlySet<string>): number =>
  stems.filter((stem) => sourceStems.has(stem)).length / stems.length;

/**
 * Returns whether the passages support a text: they contain each piece of code and address verbatim, each number with
 * its unit, each verb that changes something, and most words; and a sentence of theirs with most of its words has the
 * same negations. The text must not contain links, which only come from sources.
 */
const isSupported = (text: string, sources: readonly string[]): boolean => {
  if (linkPattern.test(text) || isModelInstruction(text)) return false;
  const source = sources.join('\n');
  const lowerSource = source.normalize('NFKC').toLowerCase();
  if (!extractAddresses(text).every((address) => lowerSource.includes(address))) return false;
  const sourceQuantities = extractQuantities(source);
  if (![...extractQuantities(text)].every((quantity) => sourceQuantities.has(quantity))) return false;
  if (![...text.matchAll(codePattern)].every(([, code = '']) => source.includes(code))) return false;
  const stems = [...toStems(normalizeNumbers(text))];
  const sourceStems = toStems(normalizeNumbers(source));
  if (stems.some((stem) => actionStems.has(stem) && !sourceStems.has(stem))) return false;
  if (stems.length === 0 || getShare(stems, sourceStems) < minWordShare) return false;
  const negations = extractNegations(text);
  return sources
    .flatMap((part) => withNeighbors(splitSentences(part)))
    .some(
      (sentence) =>
        extractNegations(sentence) === negations &&
        getShare(stems, toStems(normalizeNumbers(sentence))) >= minWordShare,
    );
};

/** Returns sentences, and each two in a row, because a statement may combine them. */
const withNeighbors = (sentences: readonly string[]): string[] => [
  ...sentences,
  ...sentences.slice(1).map((sentence, index) => `${sentences[index]} ${sentence}`),
];

/** Returns sentences whose cited passages support them; others are omitted and counted. */
export const checkSentences = (
  modelSentences: readonly ModelSentence[],
  passages: readonly FoundPassage[],
): CheckedSentences => {
  const sentences = modelSentences.flatMap(({ text, sources }): CitedSentence[] => {
    const citedIndexes = [...new Set(sources)].filter((passageIndex) => passages[passageIndex] !== undefined);
    const sourceTexts = citedIndexes.flatMap((passageIndex) => {
      const passage = passages[passageIndex];
      return passage === undefined ? [] : [[passage.origin.title, ...passage.headings, passage.text].join('\n\n')];
    });
    return sourceTexts.length > 0 && isSupported(text, sourceTexts)
      ? [{ text: text.trim(), passages: citedIndexes }]
      : [];
  });
  return { sentences, excludedCount: modelSentences.length - sentences.length };
};
