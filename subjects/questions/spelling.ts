/** Corrects typing errors: an unknown word is replaced by the single known word that is close to it */
import { editDistance } from '../../schemas/edit-distance.ts';
import { stemOf, type Word } from './words.ts';

const maxShown = 3;
/** Maximum number of known words that are compared, and of their characters */
const maxCompared = 10_000;
const maxNameLength = 40;
/** Maximum number of words of one question that are corrected */
const maxCorrected = 12;

/**
 * Returns the maximum number of mistakes: one from four characters, two from eight. The first character is rarely
 * wrong.
 */
const allowedMistakes = (word: string): number => (word.length >= 8 ? 2 : word.length >= 4 ? 1 : 0);

/** Returns the edit distance; a transposition of two adjacent characters counts as one. */
const distanceWithSwap = (word: string, known: string): number => {
  const differs = [...word].findIndex((character, at) => character !== known[at]);
  const swapped = `${word.slice(0, differs)}${word[differs + 1] ?? ''}${word[differs] ?? ''}${word.slice(differs + 2)}`;
  return differs >= 0 && swapped === known ? 1 : editDistance(word, known);
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
  const found: NearbyWord[] = [];
  let compared = 0;
  for (const each of known) {
    if (++compared > maxCompared) break;
    // A difference of two characters in length is a different word: customers are not customs.
    if (Math.abs(each.length - word.length) > Math.min(maxDistance, 1) || each.length > maxNameLength) continue;
    const distance = distanceWithSwap(word, each);
    // In a word of four characters, one may be missing, but none substituted.
    if (distance <= maxDistance && (word.length > 4 || each.length > word.length)) found.push({ word: each, distance });
  }
  return found.sort((one, other) => one.distance - other.distance || (one.word < other.word ? -1 : 1));
};

/**
 * Returns the distance of a word from a name or its nearest part. A name that contains the word counts as one mistake.
 */
const nameDistance = (word: string, name: string, maxDistance: number): number => {
  if (word.length > 2 && name.includes(word)) return 1;
  // The first character is rarely a mistake.
  const near = [name, ...name.split(/[._/ -]/)].filter(
    (part) => part[0] === word[0] && Math.abs(part.length - word.length) <= maxDistance,
  );
  return Math.min(Number.POSITIVE_INFINITY, ...near.map((part) => editDistance(word, part)));
};

/** Returns at most three names that are similar to a word, the most similar first, for error messages. */
export const findSimilarNames = (word: string, names: Iterable<string>): string[] => {
  const lower = word.toLowerCase();
  if (lower.length > maxNameLength) return [];
  const maxDistance = Math.max(1, Math.ceil(lower.length / 3));
  const like: NearbyWord[] = [];
  let compared = 0;
  for (const name of names) {
    if (++compared > maxCompared) break;
    const distance = nameDistance(lower, name.toLowerCase().slice(0, maxNameLength), maxDistance);
    if (distance <= maxDistance) like.push({ word: name, distance });
  }
  like.sort((one, other) => one.distance - other.distance || (one.word < other.word ? -1 : 1));
  return [...new Set(like.map(({ word: name }) => name))].slice(0, maxShown);
};

/**
 * Corrects typing errors if exactly one known word is nearest, for the first twelve unknown words. Only a slip is
 * corrected to a noise word (`empty`), because otherwise a significant word would be lost.
 */
export const correctSpelling = (
  words: readonly Word[],
  known: readonly ReadonlySet<string>[],
  empty: ReadonlySet<string> = new Set(),
): Word[] => {
  let compared = 0;
  return words.map((word) => {
    const isPlain = word.is === 'word' && word.text.length <= maxNameLength && /^[\p{L}-]+$/u.test(word.text);
    const isKnown = known.some((names) => names.has(word.lower) || names.has(word.stem));
    if (!isPlain || isKnown || ++compared > maxCorrected) return word;
    // For many words, the vocabulary contains only the stem.
    const correction =
      findCorrection(word.lower, known) ??
      (word.stem === word.lower
        ? undefined
        : findCorrection(word.stem, known, Math.min(1, allowedMistakes(word.stem))));
    const isLost = correction !== undefined && empty.has(stemOf(correction)) && !isTypingSlip(word.lower, correction);
    return correction === undefined || isLost
      ? word
      : { ...word, text: correction, lower: correction, stem: stemOf(correction), inside: correction };
  });
};

/** Returns the single nearest known word. */
const findCorrection = (
  word: string,
  known: readonly Iterable<string>[],
  maxDistance: number = allowedMistakes(word),
): string | undefined => {
  const [first, second] = maxDistance === 0 ? [] : findNearest(word, sameFirstCharacter(known, word), maxDistance);
  const isSure =
    second === undefined ||
    second.distance > (first?.distance ?? 0) ||
    stemOf(second.word) === stemOf(first?.word ?? '');
  return isSure ? first?.word : undefined;
};

function* sameFirstCharacter(known: readonly Iterable<string>[], word: string): Iterable<string> {
  for (const names of known) for (const each of names) if (each[0] === word[0] && each.length >= 4) yield each;
}
