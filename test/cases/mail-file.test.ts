/** Mails in a file: old ones are removed, unless that could lose a mail of another process. */
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { createFileMailer } from '../../adapters/mail-file.ts';
import { silentLog } from '../../schemas/ports/log.ts';

const directory = mkdtempSync(join(tmpdir(), 'oiq-mail-file-'));
test.after.always(() => rmSync(directory, { recursive: true, force: true }));

const now = Date.parse('2026-03-20T12:00:00Z');
const clock = { now: () => now };
const formatLine = (at: string): string => `${JSON.stringify({ at, to: 'a@example.com', subject: at, text: at })}\n`;
const [old, recent] = [formatLine('2026-03-01T12:00:00Z'), formatLine('2026-03-19T12:00:00Z')];

for (const [isShared, expected, expectedWarnings] of [
  [false, recent, 0],
  [true, old + recent, 1],
] as const)
  test(`old mails are ${isShared ? 'reported in a file that processes share' : 'removed from a file of one process'}`, async (t) => {
    const path = join(directory, `${isShared}.jsonl`);
    appendFileSync(path, old + recent);
    const warnings: string[] = [];
    const log = { ...silentLog, warn: (_fields: object, message: string) => void warnings.push(message) };
    await createFileMailer({ path, clock, isShared, log }).close();
    t.is(readFileSync(path, 'utf8'), expected);
    t.is(warnings.length, expectedWarnings);
  });
