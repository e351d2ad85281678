/** Runs `oiq dead-letter …` like an operator. */
import { setTimeout as delay } from 'node:timers/promises';
import type { ExecutionContext } from 'ava';
import { eventually } from '../waiting.ts';
import { runOiq } from './oiq-process.ts';

/** Runs the command successfully. Returns its output. */
export type DeadLetterCommand = (...args: readonly string[]) => Promise<string>;

export const deadLetterCommand =
  (t: ExecutionContext, environment: Readonly<Record<string, string>>): DeadLetterCommand =>
  async (...args) => {
    const ran = await runOiq(['dead-letter', ...args], environment);
    t.is(ran.code, 0, ran.errors);
    return ran.output;
  };

/** IDs of a printed list. */
export const idsIn = (list: string): string[] =>
  list
    .split('\n')
    .filter((line) => line.includes('  '))
    .map((line) => line.slice(0, line.indexOf(' ')));

/** IDs of the list once it is as expected: dead letters are stored shortly after they are published. */
export const waitForList = async (
  what: string,
  run: DeadLetterCommand,
  holds: (ids: readonly string[]) => boolean,
  ...filters: string[]
): Promise<string[]> => {
  let ids: string[] = [];
  await eventually(what, async () => {
    ids = idsIn(await run('list', '--limit', '1000', ...filters));
    if (holds(ids)) return true;
    // Each poll starts a process.
    await delay(1_000);
    return false;
  });
  return ids;
};

/** The list once it has the expected number of dead letters. */
export const listDeadLetters = (run: DeadLetterCommand, length: number, ...filters: string[]): Promise<string[]> =>
  waitForList(`${length} dead letters (${filters.join(' ')})`, run, (ids) => ids.length === length, ...filters);

/** The payload that `show` prints. */
export const payloadIn = (shown: string): Buffer =>
  Buffer.from(shown.slice(shown.indexOf('payload (base64')).split('\n')[1] ?? '', 'base64');
