/**
 * Decides which positions of a pattern accept any word, by the number of different words that its neighbors have there.
 */

import { ANY } from '../../queries/log-patterns/tokens.ts';
import type { Pattern } from './pattern.ts';

/**
 * Number of distinct words that make a position a variable.
 *
 * Words that describe the event count half: states of a machine (`NEW`, `RUNNING`), verbs (`Started`, `Stopping`) and
 * functions at the start of a line (`onClick`). A typed value next to a word (`user 17`, `user root`) proves a variable
 * at once.
 *
 * For names, two words are enough: single letters, words that contain a dot (`example.net`, `libc.so`) and do not start
 * the line, and words after an announcing word (`for user root`). Two positions at once, and positions next to a single
 * other word, need more.
 */
const DISTINCT_WORDS = 5;
const STATEMENT = 0.5;
const TYPED_VALUE_WEIGHT = 4;
const NAME = 2.5;
const PAIR_FACTOR = 1.5;
const SINGLE_WORD_FACTOR = 2;

/** Nouns and prepositions that announce a name: `on node a`, but not `node down`. */
const announcingNouns = new Set(
  'user account group role host node server device interface network volume database table topic queue'.split(' '),
);
const announcingPrepositions = new Set('for of by as from to on in at via with into invalid unknown'.split(' '));

const isCapital = (word: string): boolean => word === word.toUpperCase() && word !== word.toLowerCase();

/** Returns whether the word before this position announces a name. */
const isAnnounced = (pattern: Pattern, place: number): boolean =>
  place > 1 &&
  pattern.isWord(place - 1) &&
  pattern.isWord(place - 2) &&
  announcingNouns.has(pattern.word(place - 1).toLowerCase()) &&
  announcingPrepositions.has(pattern.word(place - 2).toLowerCase());

/**
 * Returns whether a word is an identifier: a file, host or similar. Names of errors and events describe the event and
 * are not.
 */
const isIdentifier = (word: string): boolean => {
  const dot = word.lastIndexOf('.');
  return dot > 0 && !(isCapital(word.slice(dot)) || word.endsWith('Exception') || word.endsWith('Error'));
};

const wordWeight = (pattern: Pattern, place: number): number => {
  if (!pattern.isWord(place)) return TYPED_VALUE_WEIGHT;
  const word = pattern.word(place);
  if (word.length === 1 || isAnnounced(pattern, place)) return NAME;
  if (place === 0 && /[a-z][A-Z]/.test(word)) return STATEMENT;
  if (isCapital(word) || word.endsWith('ed') || word.endsWith('ing')) return STATEMENT;
  return place > 0 && isIdentifier(word) ? NAME : 1;
};

/** Returns up to two positions where the patterns differ; `undefined` if there are more. */
const findDifferences = (left: Pattern, right: Pattern): number[] | undefined => {
  const places: number[] = [];
  for (let place = 0; place < left.hashes.length; place++) {
    if (left.hashes[place] === right.hashes[place]) continue;
    if (places.length === 2) return undefined;
    places.push(place);
  }
  return places;
};

const isVariable = (place: number, patterns: readonly Pattern[], requiredWeight: number): boolean => {
  const weights = new Map<number, number>();
  let sum = 0;
  for (const pattern of patterns) {
    const hash = pattern.hashes[place] as number;
    if (weights.has(hash)) continue;
    const weight = hash === ANY ? requiredWeight : wordWeight(pattern, place);
    weights.set(hash, weight);
    sum += weight;
    if (weights.size > 1 && sum >= requiredWeight) return true;
  }
  return false;
};

/**
 * Returns the positions of `pattern` that are variables, by comparison with the others of its structure; `undefined`
 * for none.
 */
export const variablePlaces = (pattern: Pattern, bucket: readonly Pattern[]): readonly number[] | undefined => {
  const near: { other: Pattern; places: readonly number[] }[] = [];
  const sets = new Map<string, readonly number[]>();
  for (const other of bucket) {
    const places = other === pattern ? undefined : findDifferences(pattern, other);
    if (places === undefined) continue;
    near.push({ other, places });
    sets.set(places.join(), places);
  }
  const words = pattern.hashes.length - pattern.variables;
  for (const places of [...sets.values()].sort((one, two) => one.length - two.length)) {
    const rest = words - places.filter((place) => pattern.isWord(place)).length;
    if (rest < places.length) continue;
    const need = DISTINCT_WORDS * (places.length > 1 ? PAIR_FACTOR : 1) * (rest === 1 ? SINGLE_WORD_FACTOR : 1);
    const subsetMatches = near.filter((one) => one.places.every((place) => places.includes(place)));
    const patterns = [pattern, ...subsetMatches.map(({ other }) => other)];
    if (places.every((place) => isVariable(place, patterns, need))) return places;
  }
  return undefined;
};
