/** Corrects typing errors: an unknown word is replaced by the single known word that is close to it */
import { computeEditDistance } from '../../schemas/edit-distance.ts';
import { toStem, type Word } from './words.ts';

const maxSimilarNames = 3;
/** Maximum number of known words that are compared; the next constant limits their length */
const maxComparedWords = 10_000;
const maxNameLength = 40;
/** Maximum number of words of one question that are corrected */
const maxCorrectedWords = 12;

/**
 * Returns the maximum number of mistakes: one for words of at least four characters, two for at least eight.
 */
const getMaxMistakes = (word: string): number => (word.length >= 8 ? 2 : word.length >= 4 ? 1 : 0);

/** Returns the edit distance; a transposition of two adjacent characters counts as one. */
const computeDistance = (word: string, known: string): number => {
  const differenceIndex = [...word].findIndex((character, index) => character !== known[index]);
  const transposed = `${word.slice(0, differenceIndex)}${word[differenceIndex + 1] ?? ''}${word[differenceIndex] ?? ''}${word.slice(differenceIndex + 2)}`;
  return differenceIndex >= 0 && transposed === known ? 1 : computeEditDistance(word, known);
};

/**
 * Returns whether the difference is an additional or missing character, or a transposition. A substituted character
 * makes a different word.
 */
const isTypingSlip = (word: string, known: string): boolean =>
  word.length !== known.length || [...word].toSorted().join('') === [...known].toSorted().join('');

interface NearbyWord {
  readonly word: string;
  readonly distance: number;
}

const findNearest = (word: string, known: Iterable<string>, maxDistance: number): NearbyWord[] => {
  const nearbyWords: NearbyWord[] = [];
  let comparedCount = 0;
  for (const value of known) {
    if (++comparedCount > maxComparedWords) break;
    // A difference of two characters in length is a different word: customers are not customs.
    if (Math.abs(value.length - word.length) > Math.min(maxDistance, 1) || value.length > maxNameLength) continue;
    const distance = computeDistance(word, value);
    // In a word of four characters, one may be missing, but none substituted.
    if (distance <= maxDistance && (word.length > 4 || value.length > word.length))
      nearbyWords.push({ word: value, distance });
  }
  return nearbyWords.sort((left, right) => left.distance - right.distance || (left.word < right.word ? -1 : 1));
};

/**
 * Returns the distance of a word from a name or its nearest part. A name that contains the word counts as one mistake.
 */
const nameDistance = (word: string, name: string, maxDistance: number): number => {
  if (word.length > 2 && name.includes(word)) return 1;
  // Typing errors rarely affect the first character.
  const nearbyParts = [name, ...name.split(/[._/ -]/)].filter(
    (part) => part[0] === word[0] && Math.abs(part.length - word.length) <= maxDistance,
  );
  return Math.min(Number.POSITIVE_INFINITY, ...nearbyParts.map((part) => computeEditDistance(word, part)));
};

/** Returns at most three names that are similar to a word, the most similar first, for error messages. */
export const findSimilarNames = (word: string, names: Iterable<string>): string[] => {
  const lower = word.toLowerCase();
  if (lower.length > maxNameLength) return [];
  const maxDistance = Math.max(1, Math.ceil(lower.length / 3));
  const similarNames: NearbyWord[] = [];
  let comparedCount = 0;
  for (const name of names) {
    if (++comparedCount > maxComparedWords) break;
    const distance = nameDistance(lower, name.toLowerCase().slice(0, maxNameLength), maxDistance);
    if (distance <= maxDistance) similarNames.push({ word: name, distance });
  }
  similarNames.sort((left, right) => left.distance - right.distance || (left.word < right.word ? -1 : 1));
  return [...new Set(similarNames.map(({ word: name }) => name))].slice(0, maxSimilarNames);
};

/**
 * Corrects typing errors if exactly one known word is nearest, for the first twelve unknown words. Only a slip is
 * corrected to a word of `slipWords`, because otherwise a significant word would be lost.
 */
export const correctSpelling = (
  words: readonly Word[],
  known: readonly ReadonlySet<string>[],
  slipWords: ReadonlySet<string> = new Set(),
): Word[] => {
  let checkedCount = 0;
  return words.map((word) => {
    const isPlain = word.is === 'word' && word.text.length <= maxNameLength && /^[\p{L}-]+$/u.test(word.text);
    const isKnown = known.some((names) => names.has(word.lower) || names.has(word.stem));
    if (!isPlain || isKnown || ++checkedCount > maxCorrectedWords) return word;
    // For many words, the vocabulary contains only the stem.
    const correction =
      findCorrection(word.lower, known) ??
      (word.stem === word.lower ? undefined : findCorrection(word.stem, known, Math.min(1, getMaxMistakes(word.stem))));
    const losesMeaning =
      correction !== undefined && slipWords.has(toStem(correction)) && !isTypingSlip(word.lower, correction);
    return correction === undefined || losesMeaning
      ? word
      : { ...word, text: correction, lower: correction, stem: toStem(correction), content: correction };
  });
};

/** Returns the single nearest known word. */
const findCorrection = (
  word: string,
  vocabularies: readonly Iterable<string>[],
  maxDistance: number = getMaxMistakes(word),
): string | undefined => {
  const [first, second] =
    maxDistance === 0 ? [] : findNearest(word, filterByFirstCharacter(vocabularies, word), maxDistance);
  const isUnambiguous =
    second === undefined ||
    second.distance > (first?.distance ?? 0) ||
    toStem(second.word) === toStem(first?.word ?? '');
  return isUnambiguous ? first?.word : undefined;
};

function* filterByFirstCharacter(vocabularies: readonly Iterable<string>[], word: string): Iterable<string> {
  for (const names of vocabularies) for (const name of names) if (name[0] === word[0] && name.length >= 4) yield name;
}
