/**
 * What is tested in parts: the commit decides which part a run has, so that runs of one commit are equal and the next commits have the other
 * parts. `TEST_SEED` chooses another part, and `TEST_PARTS=1` has all: `TEST_PARTS=1 npm test -- processors-once-kafka`.
 */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** A commit by the first seven digits of its hash, and the seed by which its runs draw */
export interface Commit {
  readonly name: string;
  readonly seed: number;
}

/** The checked out commit and those before it, newest first; none without them, such as in an archive. */
export const listCommits = (count: number): readonly Commit[] => {
  try {
    const cwd = fileURLToPath(new URL('..', import.meta.url));
    const hashes = execFileSync('git', ['rev-list', `--max-count=${count}`, 'HEAD'], {
      cwd,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return (hashes.match(/^[0-9a-f]{7}/gm) ?? []).map((name) => ({ name, seed: Number.parseInt(name, 16) }));
  } catch {
    return [];
  }
};

/** What this process draws by. */
export const drawSeed = Number(process.env['TEST_SEED'] ?? listCommits(1)[0]?.seed ?? 0);

const maxParts = Number(process.env['TEST_PARTS'] ?? Number.POSITIVE_INFINITY);

/** Which of so many parts is a run's, counted from 0, and how many there are. */
export type DrawPart = (parts: number) => { readonly part: number; readonly of: number };

/** The parts of runs with a seed. */
export const drawnPartBy =
  (seed: number): DrawPart =>
  (parts) => {
    const of = Math.max(1, Math.min(parts, maxParts));
    return { part: seed % of, of };
  };

/** The parts of this run. */
export const drawnPart = drawnPartBy(drawSeed);

/** Every so many-th of a list. */
export const drawn = <Item>(items: readonly Item[], parts: number): readonly Item[] => {
  const { part, of } = drawnPart(parts);
  return items.filter((_, index) => index % of === part);
};

/**
 * Every so many-th case of one thing of many, which begins with another one than its neighbour: a run asks each thing some cases, and each
 * case of some things.
 */
export const drawnAt = <Case>(place: number, cases: readonly Case[], parts: number): readonly Case[] => {
  const { part, of } = drawnPart(parts);
  return cases.filter((_, index) => (place + index) % of === part);
};

/** What a test says of its draw. */
export const drawnSummary = (names: readonly string[], all: readonly unknown[]): string =>
  `${names.length} of ${all.length} are drawn (TEST_SEED=${drawSeed}): ${names.join(', ')}`;
