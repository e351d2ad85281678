/** Typing errors: a word that nothing is called is read as the one known word that it is nearly. */
import { editDistance } from '../../schemas/edit-distance.ts';
import { stemOf, type Word } from './words.ts';

const mostShown = 3;
/** Words are compared with so many known ones, and characters of each. */
const mostCompared = 20_000;
const longest = 64;

/** One mistake in five characters, two in eight; the first character is seldom one. */
const mistakesIn = (word: string): number => (word.length >= 8 ? 2 : word.length >= 5 ? 1 : 0);

/** Distance in single mistakes: two neighbours that changed places are one. */
const distanceOf = (word: string, known: string): number => {
  const differs = [...word].findIndex((character, at) => character !== known[at]);
  const swapped = `${word.slice(0, differs)}${word[differs + 1] ?? ''}${word[differs] ?? ''}${word.slice(differs + 2)}`;
  return differs >= 0 && swapped === known ? 1 : editDistance(word, known);
};

interface Near {
  readonly word: string;
  readonly distance: number;
}

const nearest = (word: string, known: Iterable<string>, most: number): Near[] => {
  const found: Near[] = [];
  let compared = 0;
  for (const each of known) {
    if (++compared > mostCompared) break;
    if (Math.abs(each.length - word.length) > most || each.length > longest) continue;
    const distance = distanceOf(word, each);
    if (distance <= most) found.push({ word: each, distance });
  }
  return found.sort((one, other) => one.distance - other.distance || (one.word < other.word ? -1 : 1));
};

/** At most three names that are like a word, the most alike first: what a refusal tells. */
export const namesLike = (word: string, names: Iterable<string>): string[] => {
  const lower = word.toLowerCase().slice(0, longest);
  const most = Math.max(1, Math.ceil(lower.length / 3));
  const like: Near[] = [];
  let compared = 0;
  for (const name of names) {
    if (++compared > mostCompared) break;
    const plain = name.toLowerCase().slice(0, longest);
    const isWithin = lower.length > 2 && plain.includes(lower);
    const distance = isWithin
      ? 1
      : Math.min(...[plain, ...plain.split(/[._/ -]/)].map((part) => editDistance(lower, part)));
    if (distance <= most) like.push({ word: name, distance });
  }
  like.sort((one, other) => one.distance - other.distance || (one.word < other.word ? -1 : 1));
  return [...new Set(like.map(({ word: name }) => name))].slice(0, mostShown);
};

/** Words with typing errors corrected where one known word alone is nearest. `text` becomes the known one, `written` stays. */
export const corrected = (words: readonly Word[], known: ReadonlySet<string>): Word[] =>
  words.map((word) => {
    const most = mistakesIn(word.lower);
    const isPlain = word.is === 'word' && /^[\p{L}-]+$/u.test(word.text) && word.text.length <= longest;
    if (!isPlain || most === 0 || known.has(word.lower) || known.has(word.stem)) return word;
    const [first, second] = nearest(word.lower, withFirst(known, word.lower), most);
    if (first === undefined || (second?.distance === first.distance && stemOf(second.word) !== stemOf(first.word)))
      return word;
    return { ...word, text: first.word, lower: first.word, stem: stemOf(first.word), inside: first.word };
  });

function* withFirst(known: Iterable<string>, word: string): Iterable<string> {
  for (const each of known) if (each[0] === word[0] && each.length >= 4) yield each;
}
