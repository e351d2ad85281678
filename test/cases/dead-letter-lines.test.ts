/** The output of `oiq dead-letter` for people. */
import test from 'ava';
import type { DeadLetters } from '../../api/kernel/ports/dead-letters.ts';
import { runDeadLetterRequest } from '../../commands/dead-letter-request.ts';
import { systemClock } from '../../schemas/ports/clock.ts';

const deadLetter = { id: 'a', receivedAt: 'now', tenantId: 't', signal: '', origin: 'o', reason: 'r', size: 1 };
const request = { filter: {}, limit: 10, dryRun: false } as const;

const printed = async (request: Parameters<typeof runDeadLetterRequest>[1], deadLetters: object): Promise<string[]> => {
  const lines: string[] = [];
  const platform = { deadLetters: deadLetters as DeadLetters, clock: systemClock };
  await runDeadLetterRequest(platform, request, (line) => lines.push(line));
  return lines;
};

test('a message that quotes control characters of the sender stays one line and cannot control the terminal', async (t) => {
  const message = 'a\u001b[31mred\nb  forged\r\u0007\u009b';
  const list = () => Promise.resolve({ items: [{ ...deadLetter, message }], nextCursor: null });
  const [line, ...rest] = await printed({ ...request, action: 'list', ids: [] }, { list });
  t.is(line, 'a  now  t  -  o  r  1 bytes  a�[31mred�b  forged���');
  t.deepEqual(rest, ['1 shown']);
});

test('ids without an open dead letter are counted', async (t) => {
  const replay = () => Promise.resolve({ matched: 1, done: 1, already: 0, failed: 0, failedByReason: {} });
  const lines = await printed({ ...request, action: 'replay', ids: ['a', 'b', 'c'] }, { replay });
  t.deepEqual(lines, ['replayed: 1 of 1', 'not found, or not open: 2']);
});
