/** Typing errors: a word that nothing is called is read as the one known word that it is nearly. */
import { editDistance } from '../../schemas/edit-distance.ts';
import { stemOf, type Word } from './words.ts';

const maxShown = 3;
/** Words are compared with so many known ones, and characters of each. */
const maxCompared = 10_000;
const maxNameLength = 40;
/** Words of one question that are looked for among those that are like them. */
const maxCorrected = 12;

/** One mistake in five characters, two in eight; the first character is seldom one. */
const mistakesIn = (word: string): number => (word.length >= 8 ? 2 : word.length >= 4 ? 1 : 0);

/** Distance in single mistakes: two neighbours that changed places are one. */
const distanceOf = (word: string, known: string): number => {
  const differs = [...word].findIndex((character, at) => character !== known[at]);
  const swapped = `${word.slice(0, differs)}${word[differs + 1] ?? ''}${word[differs] ?? ''}${word.slice(differs + 2)}`;
  return differs >= 0 && swapped === known ? 1 : editDistance(word, known);
};

/** Whether the difference is a character too many or too few, or two in the wrong order: another letter is another word. */
const isSlip = (word: string, known: string): boolean =>
  word.length !== known.length || [...word].toSorted().join('') === [...known].toSorted().join('');

interface Near {
  readonly word: string;
  readonly distance: number;
}

const nearest = (word: string, known: Iterable<string>, maxDistance: number): Near[] => {
  const found: Near[] = [];
  let compared = 0;
  for (const each of known) {
    if (++compared > maxCompared) break;
    // Two characters more or less are another word: customers are not customs.
    if (Math.abs(each.length - word.length) > Math.min(maxDistance, 1) || each.length > maxNameLength) continue;
    const distance = distanceOf(word, each);
    // Of four characters one may be missing, and none be another.
    if (distance <= maxDistance && (word.length > 4 || each.length > word.length)) found.push({ word: each, distance });
  }
  return found.sort((one, other) => one.distance - other.distance || (one.word < other.word ? -1 : 1));
};

/** The distance of a word from a name or its nearest part. A name that holds it is as good as a mistake of one character. */
const likeness = (word: string, name: string, maxDistance: number): number => {
  if (word.length > 2 && name.includes(word)) return 1;
  // The first character is seldom a mistake.
  const near = [name, ...name.split(/[._/ -]/)].filter(
    (part) => part[0] === word[0] && Math.abs(part.length - word.length) <= maxDistance,
  );
  return Math.min(Number.POSITIVE_INFINITY, ...near.map((part) => editDistance(word, part)));
};

/** At most three names that are like a word, the most alike first: what a refusal tells. */
export const namesLike = (word: string, names: Iterable<string>): string[] => {
  const lower = word.toLowerCase();
  if (lower.length > maxNameLength) return [];
  const maxDistance = Math.max(1, Math.ceil(lower.length / 3));
  const like: Near[] = [];
  let compared = 0;
  for (const name of names) {
    if (++compared > maxCompared) break;
    const distance = likeness(lower, name.toLowerCase().slice(0, maxNameLength), maxDistance);
    if (distance <= maxDistance) like.push({ word: name, distance });
  }
  like.sort((one, other) => one.distance - other.distance || (one.word < other.word ? -1 : 1));
  return [...new Set(like.map(({ word: name }) => name))].slice(0, maxShown);
};

/**
 * Words with typing errors corrected where one known word alone is nearest: of the first dozen that nothing is called. Only a slip becomes
 * one of the words that say nothing (`empty`): a word that means something would be lost.
 */
export const corrected = (
  words: readonly Word[],
  known: readonly ReadonlySet<string>[],
  empty: ReadonlySet<string> = new Set(),
): Word[] => {
  let compared = 0;
  return words.map((word) => {
    const isPlain = word.is === 'word' && word.text.length <= maxNameLength && /^[\p{L}-]+$/u.test(word.text);
    const isKnown = known.some((names) => names.has(word.lower) || names.has(word.stem));
    if (!isPlain || isKnown || ++compared > maxCorrected) return word;
    // Of many words the vocabulary has the stem alone.
    const correction =
      correctionOf(word.lower, known) ??
      (word.stem === word.lower ? undefined : correctionOf(word.stem, known, Math.min(1, mistakesIn(word.stem))));
    const isLost = correction !== undefined && empty.has(stemOf(correction)) && !isSlip(word.lower, correction);
    return correction === undefined || isLost
      ? word
      : { ...word, text: correction, lower: correction, stem: stemOf(correction), inside: correction };
  });
};

/** The one known word that is nearest. */
const correctionOf = (
  word: string,
  known: readonly Iterable<string>[],
  maxDistance: number = mistakesIn(word),
): string | undefined => {
  const [first, second] = maxDistance === 0 ? [] : nearest(word, withFirst(known, word), maxDistance);
  const isSure =
    second === undefined ||
    second.distance > (first?.distance ?? 0) ||
    stemOf(second.word) === stemOf(first?.word ?? '');
  return isSure ? first?.word : undefined;
};

function* withFirst(known: readonly Iterable<string>[], word: string): Iterable<string> {
  for (const names of known) for (const each of names) if (each[0] === word[0] && each.length >= 4) yield each;
}
