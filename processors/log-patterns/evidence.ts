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
const STATEMENT_WEIGHT = 0.5;
const TYPED_VALUE_WEIGHT = 4;
const NAME_WEIGHT = 2.5;
const PAIR_FACTOR = 1.5;
const SINGLE_WORD_FACTOR = 2;

/** Nouns and prepositions that announce a name: `on node a`, but not `node down`. */
const announcingNouns = new Set(
  'user account group role host node server device interface network volume database table topic queue'.split(' '),
);
const announcingPrepositions = new Set('for of by as from to on in at via with into invalid unknown'.split(' '));

const isCapital = (word: string): boolean => word === word.toUpperCase() && word !== word.toLowerCase();

/** Returns whether the word before this position announces a name. */
const isAnnounced = (pattern: Pattern, position: number): boolean =>
  position > 1 &&
  pattern.isWord(position - 1) &&
  pattern.isWord(position - 2) &&
  announcingNouns.has(pattern.word(position - 1).toLowerCase()) &&
  announcingPrepositions.has(pattern.word(position - 2).toLowerCase());

/**
 * Returns whether a word is an identifier: a file, host or similar. Names of errors and events describe the event and
 * are not.
 */
const isIdentifier = (word: string): boolean => {
  const dot = word.lastIndexOf('.');
  return dot > 0 && !(isCapital(word.slice(dot)) || word.endsWith('Exception') || word.endsWith('Error'));
};

const computeWordWeight = (pattern: Pattern, position: number): number => {
  if (!pattern.isWord(position)) return TYPED_VALUE_WEIGHT;
  const word = pattern.word(position);
  if (word.length === 1 || isAnnounced(pattern, position)) return NAME_WEIGHT;
  if (position === 0 && /[a-z][A-Z]/.test(word)) return STATEMENT_WEIGHT;
  if (isCapital(word) || word.endsWith('ed') || word.endsWith('ing')) return STATEMENT_WEIGHT;
  return position > 0 && isIdentifier(word) ? NAME_WEIGHT : 1;
};

/** Returns up to two positions where the patterns differ; `undefined` if there are more. */
const findDifferences = (left: Pattern, right: Pattern): number[] | undefined => {
  const positions: number[] = [];
  for (let position = 0; position < left.hashes.length; position++) {
    if (left.hashes[position] === right.hashes[position]) continue;
    if (positions.length === 2) return undefined;
    positions.push(position);
  }
  return positions;
};

const isVariable = (position: number, patterns: readonly Pattern[], requiredWeight: number): boolean => {
  const weights = new Map<number, number>();
  let sum = 0;
  for (const pattern of patterns) {
    const hash = pattern.hashes[position] as number;
    if (weights.has(hash)) continue;
    const weight = hash === ANY ? requiredWeight : computeWordWeight(pattern, position);
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
export const findVariablePositions = (pattern: Pattern, bucket: readonly Pattern[]): readonly number[] | undefined => {
  const neighbors: { candidate: Pattern; positions: readonly number[] }[] = [];
  const positionSets = new Map<string, readonly number[]>();
  for (const candidate of bucket) {
    const positions = candidate === pattern ? undefined : findDifferences(pattern, candidate);
    if (positions === undefined) continue;
    neighbors.push({ candidate, positions });
    positionSets.set(positions.join(), positions);
  }
  const words = pattern.hashes.length - pattern.variables;
  for (const positions of [...positionSets.values()].sort((left, right) => left.length - right.length)) {
    const remainingWords = words - positions.filter((position) => pattern.isWord(position)).length;
    if (remainingWords < positions.length) continue;
    const requiredWeight =
      DISTINCT_WORDS * (positions.length > 1 ? PAIR_FACTOR : 1) * (remainingWords === 1 ? SINGLE_WORD_FACTOR : 1);
    const subsetMatches = neighbors.filter((neighbor) =>
      neighbor.positions.every((position) => positions.includes(position)),
    );
    const patterns = [pattern, ...subsetMatches.map(({ candidate: other }) => other)];
    if (positions.every((position) => isVariable(position, patterns, requiredWeight))) return positions;
  }
  return undefined;
};
