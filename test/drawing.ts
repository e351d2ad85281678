/**
 * What is tested in parts: the commit decides which part a run has, so that runs of one commit are equal and the next commits have the other
 * parts. `TEST_SEED` chooses another part, and `TEST_PARTS=1` has all: `TEST_PARTS=1 npm test -- processors-once-kafka`.
 */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The number of the checked out commit; 0 without one, such as in an archive. */
const readCommitNumber = (): number => {
  try {
    const cwd = fileURLToPath(new URL('..', import.meta.url));
    const commit = execFileSync('git', ['rev-parse', 'HEAD'], {
      cwd,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return Number.parseInt(commit.slice(0, 7), 16);
  } catch {
    return 0;
  }
};

/** What this process draws by. */
export const drawSeed = Number(process.env['TEST_SEED'] ?? readCommitNumber());

const maxParts = Number(process.env['TEST_PARTS'] ?? Number.POSITIVE_INFINITY);

/** Which of so many parts is this run's, counted from 0, and how many there are. */
export const drawnPart = (parts: number): { readonly part: number; readonly of: number } => {
  const of = Math.max(1, Math.min(parts, maxParts));
  return { part: drawSeed % of, of };
};

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
