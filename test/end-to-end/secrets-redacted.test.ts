/** Redacted secrets of a project are in no file of the platform, also after a kill. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { eventually } from '../waiting.ts';
import { type OiqProcess, read, signedIn, startOiq } from './oiq-process.ts';

const directory = mkdtempSync(join(tmpdir(), 'oiq-redacted-'));
let running: OiqProcess | undefined;
test.after.always(async () => {
  await running?.kill();
  rmSync(directory, { recursive: true, force: true });
});

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const createSecret = (): string =>
  `${['ghp', ''].join('_')}${Array.from({ length: 36 }, () => alphabet[Math.floor(Math.random() * alphabet.length)]).join('')}`;
const secrets = Array.from({ length: 1_000 }, createSecret);
const toBase64 = (secret: string): string => Buffer.from(`token ${secret}`).toString('base64');
const forms: readonly ((secret: string) => string)[] = [
  (secret) => `login with ${secret}`,
  (secret) => `query ${encodeURIComponent(`a=1&token=${secret}`)}`,
  (secret) => `header ${toBase64(secret)}`,
  (secret) => JSON.stringify({ headers: { value: secret } }),
];

/** Files that contain a part of a secret or of its base64. */
const findFilesWithSecrets = (): string[] => {
  const needles = secrets.flatMap((secret) => [secret.slice(4, 24), toBase64(secret).slice(10, 40)]);
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => {
      const content = readFileSync(path, 'latin1');
      return needles.some((needle) => content.includes(needle));
    });
};

test('no secret of a project with redaction is on disk, and each is reported', async (t) => {
  running = await startOiq({ dataDirectory: directory });
  const { http, otlp } = running;
  const { token } = await signedIn(http);
  const call = async (method: string, path: string, body: object) => {
    const response = await fetch(`${http}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return (await response.json()) as { readonly id: string; readonly key: string };
  };
  const project = await call('POST', '/api/projects', { name: 'Redacted', secrets: 'redact' });
  const { key } = await call('POST', '/api/license-keys', { name: 'redacted', projectId: project.id });
  const send = (body: string) =>
    fetch(`${otlp}/v1/logs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-license-key': key },
      body,
    });
  // Waits until the receiver has the project and the key.
  await eventually('an accepted request', async () => (await send('{"resourceLogs":[]}')).status === 200);
  const toRecord = (secret: string, index: number): object => ({
    timeUnixNano: `${Date.now()}000000`,
    body: { stringValue: forms[index % forms.length]?.(secret) },
    attributes: [{ key: 'api_token', value: { stringValue: secret } }],
  });
  for (let from = 0; from < secrets.length; from += 100) {
    const logRecords = secrets.slice(from, from + 100).map(toRecord);
    const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'cart' } }] };
    const response = await send(JSON.stringify({ resourceLogs: [{ resource, scopeLogs: [{ logRecords }] }] }));
    t.is(response.status, 200);
  }
  t.is((await send(`{"resourceLogs":[{"x":"${secrets[0]}" broken`)).status, 400);
  await eventually('a finding for each body and attribute', async () => {
    const { items } = await read<{ readonly items: readonly { readonly isRedacted: boolean }[] }>(
      http,
      '/api/security/secrets?limit=1000',
      token,
    );
    return items.length === 1_000 && items.every(({ isRedacted }) => isRedacted);
  });
  await running.kill();
  running = undefined;
  t.deepEqual(findFilesWithSecrets(), []);
});
