/** Typing errors: a word that nothing is called is read as the one known word that it is nearly. */
import { editDistance } from '../../schemas/edit-distance.ts';
import { stemOf, type Word } from './words.ts';

const mostShown = 3;
/** Words are compared with so many known ones, and characters of each. */
const mostCompared = 10_000;
const longest = 40;
/** Words of one question that are looked for among those that are like them. */
const mostCorrected = 12;

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

const nearest = (word: string, known: Iterable<string>, most: number): Near[] => {
  const found: Near[] = [];
  let compared = 0;
  for (const each of known) {
    if (++compared > mostCompared) break;
    // Two characters more or less are another word: customers are not customs.
    if (Math.abs(each.length - word.length) > Math.min(most, 1) || each.length > longest) continue;
    const distance = distanceOf(word, each);
    // Of four characters one may be missing, and none be another.
    if (distance <= most && (word.length > 4 || each.length > word.length)) found.push({ word: each, distance });
  }
  return found.sort((one, other) => one.distance - other.distance || (one.word < other.word ? -1 : 1));
};

/** The distance of a word from a name or its nearest part. A name that holds it is as good as a mistake of one character. */
const likeness = (word: string, name: string, most: number): number => {
  if (word.length > 2 && name.includes(word)) return 1;
  // The first character is seldom a mistake.
  const near = [name, ...name.split(/[._/ -]/)].filter(
    (part) => part[0] === word[0] && Math.abs(part.length - word.length) <= most,
  );
  return Math.min(Number.POSITIVE_INFINITY, ...near.map((part) => editDistance(word, part)));
};

/** At most three names that are like a word, the most alike first: what a refusal tells. */
export const namesLike = (word: string, names: Iterable<string>): string[] => {
  const lower = word.toLowerCase();
  if (lower.length > longest) return [];
  const most = Math.max(1, Math.ceil(lower.length / 3));
  const like: Near[] = [];
  let compared = 0;
  for (const name of names) {
    if (++compared > mostCompared) break;
    const distance = likeness(lower, name.toLowerCase().slice(0, longest), most);
    if (distance <= most) like.push({ word: name, distance });
  }
  like.sort((one, other) => one.distance - other.distance || (one.word < other.word ? -1 : 1));
  return [...new Set(like.map(({ word: name }) => name))].slice(0, mostShown);
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
    const isPlain = word.is === 'word' && word.text.length <= longest && /^[\p{L}-]+$/u.test(word.text);
    const isKnown = known.some((names) => names.has(word.lower) || names.has(word.stem));
    if (!isPlain || isKnown || ++compared > mostCorrected) return word;
    // Of many words the vocabulary has the stem alone.
    const meant =
      meantBy(word.lower, known) ??
      (word.stem === word.lower ? undefined : meantBy(word.stem, known, Math.min(1, mistakesIn(word.stem))));
    const isLost = meant !== undefined && empty.has(stemOf(meant)) && !isSlip(word.lower, meant);
    return meant === undefined || isLost
      ? word
      : { ...word, text: meant, lower: meant, stem: stemOf(meant), inside: meant };
  });
};

/** The one known word that is nearest. */
const meantBy = (
  word: string,
  known: readonly Iterable<string>[],
  most: number = mistakesIn(word),
): string | undefined => {
  const [first, second] = most === 0 ? [] : nearest(word, withFirst(known, word), most);
  const isSure =
    second === undefined ||
    second.distance > (first?.distance ?? 0) ||
    stemOf(second.word) === stemOf(first?.word ?? '');
  return isSure ? first?.word : undefined;
};

function* withFirst(known: readonly Iterable<string>[], word: string): Iterable<string> {
  for (const names of known) for (const each of names) if (each[0] === word[0] && each.length >= 4) yield each;
}
