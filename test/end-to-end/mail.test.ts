/** Mail: stored in the transaction of its change, sent over a real SMTP conversation, or written to a file. */
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { openSqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import { createFileMailer } from '../../adapters/mail-file.ts';
import { createSmtpMailer } from '../../adapters/mail-smtp.ts';
import { startMailDelivery } from '../../api/mail/delivery.ts';
import { type MailDraft, renderMail, sanitizeName } from '../../api/mail/mail-text.ts';
import { createMailQueue } from '../../api/mail/queue.ts';
import { openJobs } from '../../runtime/jobs.ts';
import { createSecretBox } from '../../runtime/secret-box.ts';
import { PermanentError } from '../../schemas/errors.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import type { Mailer } from '../../schemas/ports/mail.ts';
import { silentMetrics } from '../../schemas/ports/metrics.ts';
import { outgoingMails, outgoingMailsTenant } from '../../schemas/resources/outgoing-mail.ts';
import { eventually } from '../waiting.ts';
import { startSmtpServer } from './smtp-server.ts';

const directory = mkdtempSync(join(tmpdir(), 'oiq-mail-'));
test.after.always(() => rmSync(directory, { recursive: true, force: true }));

const clock = { now: () => Date.now() };
const box = createSecretBox('a secret key for tests of some length');
const from = 'OIQ <noreply@oiq.example>';
const makeMail = (to: string, subject = 'Grüße'): MailDraft => ({
  to,
  subject,
  paragraphs: ['Line one <b>&', '.', 'ünïcode'],
  link: { text: 'Open', url: 'https://oiq.example/x#token=abc&d' },
});

let files = 0;
const queueOver = async (mailer: Mailer, waitsMs: readonly number[] = [20, 20, 20]) => {
  files++;
  const documents = await openSqliteDocuments({ path: join(directory, `documents-${files}.sqlite`) });
  const queue = createMailQueue({ documents, clock, box, isConfigured: mailer.isDelivering });
  const start = async () => {
    const jobs = openJobs({ documents, clock, log: silentLog, metrics: silentMetrics });
    const delivery = await startMailDelivery({ documents, clock, log: silentLog, box, mailer, jobs, waitsMs });
    return {
      async stop() {
        await jobs.stop();
        await delivery.close();
      },
    };
  };
  const stored = documents.forTenant(outgoingMailsTenant).collection(outgoingMails);
  const put = (one: MailDraft | undefined, lifetimeMs?: number) =>
    documents.transaction((transaction) => queue.enqueue(transaction, one, lifetimeMs));
  return { documents, queue, start, stored, put };
};

const until = (holds: () => Promise<boolean>): Promise<void> => eventually(String(holds), holds);

test('a message reaches the server as it was written, and leaves nothing behind', async (t) => {
  const server = await startSmtpServer();
  const { start, stored, put, queue, documents } = await queueOver(createSmtpMailer({ url: server.url, from }));
  const delivery = await start();
  const id = await put(makeMail('ann@a.example'));
  const mail = await server.next(() => true);
  t.deepEqual(mail.to, ['ann@a.example']);
  t.is(mail.from, 'noreply@oiq.example');
  t.is(mail.headers.get('from'), 'OIQ <noreply@oiq.example>');
  t.is(mail.headers.get('auto-submitted'), 'auto-generated');
  t.is(mail.text.replaceAll('\r\n', '\n').trim(), renderMail(makeMail('')).text.trim());
  await until(async () => (await stored.find(id)) === undefined);
  t.is(await queue.readDeliveryState(id), 'sent');
  await delivery.stop();
  await documents.close();
  await server.close();
});

test('a message has the same Message-ID in each attempt, and another one for each recipient', async (t) => {
  const server = await startSmtpServer();
  const mailer = createSmtpMailer({ url: server.url, from });
  const message = { id: 'delivery-1', subject: 'Down', text: 'x', html: 'x' };
  for (const to of ['ann@a.example', 'ann@a.example', 'bob@a.example']) await mailer.send({ ...message, to });
  await eventually('all mails arrived', () => server.received.length === 3);
  const [first, second, third] = server.received.map(({ headers }) => headers.get('message-id'));
  t.regex(first ?? '', /^<[0-9a-f]{40}@oiq\.example>$/);
  t.is(first, second);
  t.not(first, third);
  await mailer.close();
  await server.close();
});

test('the content of a message is encrypted while it waits, and a change that fails sends nothing', async (t) => {
  const server = await startSmtpServer();
  const { start, stored, put, queue, documents } = await queueOver(createSmtpMailer({ url: server.url, from }));
  const id = await put(makeMail('ann@a.example'));
  t.is(await queue.readDeliveryState(id), 'queued');
  t.notRegex(JSON.stringify(await stored.find(id)), /ann|token|Line one/);
  await t.throwsAsync(
    documents.transaction(async (transaction) => {
      await queue.enqueue(transaction, makeMail('bob@a.example'));
      throw new Error('no');
    }),
  );
  await put(undefined);
  const delivery = await start();
  await until(async () => (await stored.count()) === 0);
  t.deepEqual(
    server.received.map(({ to }) => to),
    [['ann@a.example']],
  );
  await delivery.stop();
  await documents.close();
  await server.close();
});

test('a message is retried while the server is down or busy, even after a restart; nothing is lost', async (t) => {
  const server = await startSmtpServer();
  const { url } = server;
  await server.close();
  const { start, stored, put, documents } = await queueOver(createSmtpMailer({ url, from }), Array(1000).fill(20));
  const first = await start();
  const id = await put(makeMail('ann@a.example'));
  await until(async () => ((await stored.find(id))?.attempts ?? 0) >= 2);
  await first.stop();
  const again = await startSmtpServer(Number(new URL(url).port));
  again.refusals.push('451 later');
  const second = await start();
  t.deepEqual((await again.next(() => true)).to, ['ann@a.example']);
  t.is(again.refusals.length, 0);
  await until(async () => (await stored.count()) === 0);
  t.is(again.received.length, 1);
  await second.stop();
  await documents.close();
  await again.close();
});

test('two instances send each message once', async (t) => {
  const server = await startSmtpServer();
  const { start, stored, put, documents } = await queueOver(createSmtpMailer({ url: server.url, from }));
  const instances = await Promise.all([start(), start()]);
  await Promise.all(Array.from({ length: 20 }, (_, index) => put(makeMail(`user${index}@a.example`))));
  await until(async () => (await stored.count()) === 0);
  t.is(server.received.length, 20);
  t.is(new Set(server.received.map(({ to }) => to[0])).size, 20);
  for (const instance of instances) await instance.stop();
  await documents.close();
  await server.close();
});

test('a message is given up with a reason if the server refuses it permanently, all attempts fail, or it is too old', async (t) => {
  const server = await startSmtpServer();
  const { start, stored, put, queue, documents } = await queueOver(createSmtpMailer({ url: server.url, from }), [10]);
  server.refusals.push('550 no such user');
  const delivery = await start();
  const refused = await put(makeMail('nobody@a.example'));
  await until(async () => (await queue.readDeliveryState(refused)) === 'failed');
  const entry = await stored.find(refused);
  t.is(entry?.attempts, 1);
  t.is(entry?.sealed, '');
  t.regex(entry?.problem ?? '', /550/);
  server.refusals.push('451 later', '451 later');
  const vain = await put(makeMail('busy@a.example'));
  await until(async () => (await queue.readDeliveryState(vain)) === 'failed');
  t.is((await stored.find(vain))?.attempts, 2);
  const old = await put(makeMail('late@a.example'), -1);
  await until(async () => (await queue.readDeliveryState(old)) === 'failed');
  t.is(server.received.length, 0);
  await delivery.stop();
  await documents.close();
  await server.close();
});

test('without a server messages are stored in a file that only its owner can read', async (t) => {
  const path = join(directory, 'made', 'outbox.jsonl');
  const { start, stored, put, queue, documents } = await queueOver(createFileMailer({ path }));
  const delivery = await start();
  const id = await put(makeMail('ann@a.example', 'One'));
  await put(makeMail('bob@a.example', 'Two'));
  await until(async () => (await stored.count()) === 0);
  t.is(statSync(path).mode & 0o777, 0o600);
  const lines = readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { to: string; subject: string; text: string });
  t.deepEqual(lines.map(({ to, subject }) => `${to} ${subject}`).sort(), ['ann@a.example One', 'bob@a.example Two']);
  t.is(await queue.readDeliveryState(id), 'not-configured');
  await delivery.stop();
  await documents.close();
});

test('a header must be one line and a recipient one address, or the message is refused permanently', async (t) => {
  const server = await startSmtpServer();
  const mailers = [
    createSmtpMailer({ url: server.url, from }),
    createFileMailer({ path: join(directory, 'refused.jsonl') }),
  ];
  const validMail = renderMail(makeMail('ann@a.example'));
  const broken = [
    { ...validMail, subject: 'Hello\r\nBcc: eve@evil.example' },
    { ...validMail, subject: 'Hello\nX: y' },
    { ...validMail, to: 'ann@a.example, eve@evil.example' },
    { ...validMail, to: 'ann@a.example\r\nBcc: eve@evil.example' },
    { ...validMail, to: 'Ann <ann@a.example>' },
    { ...validMail, to: '' },
  ];
  for (const mailer of mailers)
    for (const mail of broken) await t.throwsAsync(mailer.send(mail), { instanceOf: PermanentError });
  t.is(server.received.length, 0);
  await server.close();
});

test('names and texts cannot inject markup, header lines or links', (t) => {
  const { html, subject } = renderMail({
    to: 'a@a.example',
    subject: 'x\r\nBcc: y',
    paragraphs: ['<script>"\'&'],
    link: { text: '<i>', url: 'https://x/"onclick="' },
  });
  t.is(subject, 'x Bcc: y');
  t.true(html.includes('<p>&lt;script&gt;&quot;&#39;&amp;</p>'));
  t.true(html.includes('<a href="https://x/&quot;onclick=&quot;">&lt;i&gt;</a>'));
  t.is(sanitizeName('a\u202eb\u2066c'), 'abc');
  t.is(sanitizeName('Win at http://evil.example\r\nnow'), 'Win at http: evil.example now');
});
