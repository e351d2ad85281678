/** Mails in files: old mails are removed, and mails of other processes are preserved. */
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { createFileMailer } from '../../adapters/mail-file.ts';

const parent = mkdtempSync(join(tmpdir(), 'oiq-mail-file-'));
test.after.always(() => rmSync(parent, { recursive: true, force: true }));

const now = Date.parse('2026-03-20T12:00:00Z');
const clock = { now: () => now };
const formatLine = (at: string): string => `${JSON.stringify({ at, to: 'a@example.com', subject: at, text: at })}\n`;
const [old, recent] = [formatLine('2026-03-01T12:00:00Z'), formatLine('2026-03-19T12:00:00Z')];
const mail = { to: 'b@example.com', subject: 'Hello', text: 'Hello', html: '' };

test('old mails are removed from the file of one process', async (t) => {
  const path = join(mkdtempSync(join(parent, 'one-')), 'outbox.jsonl');
  appendFileSync(path, old + recent);
  await createFileMailer({ path, clock }).close();
  t.is(readFileSync(path, 'utf8'), recent);
});

test('processes that share a directory write to a file a day, and remove files of days two weeks ago', async (t) => {
  const directory = mkdtempSync(join(parent, 'shared-'));
  const path = join(directory, 'outbox.jsonl');
  for (const name of ['outbox-2026-03-05.jsonl', 'outbox-2026-03-06.jsonl', 'notes-2026-01-01.jsonl', 'outbox.jsonl'])
    appendFileSync(join(directory, name), old);
  utimesSync(path, now / 1000, now / 1000);
  const mailers = [1, 2].map(() => createFileMailer({ path, clock, isShared: true }));
  await Promise.all(mailers.flatMap((mailer) => Array.from({ length: 20 }, () => mailer.send(mail))));
  for (const mailer of mailers) await mailer.close();
  const expected = ['notes-2026-01-01.jsonl', 'outbox-2026-03-06.jsonl', 'outbox-2026-03-20.jsonl'];
  t.deepEqual(readdirSync(directory).sort(), [...expected, 'outbox.jsonl']);
  t.is(readFileSync(join(directory, 'outbox-2026-03-20.jsonl'), 'utf8').trimEnd().split('\n').length, 40);
  // The file of a former version, unchanged for two weeks
  utimesSync(path, now / 1000 - 15 * 86_400, now / 1000 - 15 * 86_400);
  await createFileMailer({ path, clock, isShared: true }).close();
  t.deepEqual(readdirSync(directory).sort(), expected);
});
