/**
 * Splits large suites into parts. The commit hash decides which part a run has: runs of one commit are equal, and the
 * next commits have the other parts. `TEST_SEED` selects another part, and `TEST_PARTS=1` selects all: `TEST_PARTS=1
 * npm test -- processors-once-kafka`.
 */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** A commit: the first seven digits of its hash, and the seed that they give. */
export interface Commit {
  readonly name: string;
  readonly seed: number;
}

/**
 * Lists the checked out commit and its ancestors, newest first. Empty outside of a Git repository, such as in an
 * archive.
 */
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

/** The seed of this process. */
export const runSeed = Number(process.env['TEST_SEED'] ?? listCommits(1)[0]?.seed ?? 0);

const maxParts = Number(process.env['TEST_PARTS'] ?? Number.POSITIVE_INFINITY);

/** Returns the index of a run's part, from 0, and the number of parts. */
export type SelectPart = (parts: number) => { readonly part: number; readonly of: number };

/** Returns how runs with a seed select their part. */
export const createPartSelector =
  (seed: number): SelectPart =>
  (parts) => {
    const of = Math.max(1, Math.min(parts, maxParts));
    return { part: seed % of, of };
  };

/** Selects the part of this run. */
export const selectRunPart = createPartSelector(runSeed);

/** Returns this run's part of a list. */
export const selectPart = <Item>(items: readonly Item[], parts: number): readonly Item[] => {
  const { part, of } = selectRunPart(parts);
  return items.filter((_, index) => index % of === part);
};

/**
 * Returns this run's part of the cases of one item of a list. The offset depends on the position of the item, so that
 * each item gets some cases in every run, and each case runs for some items.
 */
export const selectPartAt = <Case>(place: number, cases: readonly Case[], parts: number): readonly Case[] => {
  const { part, of } = selectRunPart(parts);
  return cases.filter((_, index) => (place + index) % of === part);
};

/** Describes the part for the log of a test. */
export const describePart = (names: readonly string[], all: readonly unknown[]): string =>
  `${names.length} of ${all.length} are selected (TEST_SEED=${runSeed}): ${names.join(', ')}`;
