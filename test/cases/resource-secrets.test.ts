/** Secrets in resources: never shown, and preserved by their mask only while their destination is unchanged. */
import test from 'ava';
import { ApiError } from '../../api/errors.ts';
import { findDifferences } from '../../api/groups/audit/chain/difference.ts';
import {
  markSecretChanges,
  maskSecrets,
  openSecret,
  sealSecrets,
  secretMask,
} from '../../api/resources/resource-secrets.ts';
import { createSecretBox } from '../../runtime/secret-box.ts';

const box = createSecretBox('a secret key of an installation');
const purpose = 'channel';
const secrets = [
  { path: 'webhook.key', destination: ['webhook.url', 'kind'] },
  { path: 'pin', destination: ['kind'] },
];
const input = { kind: 'webhook', webhook: { url: 'https://example.com/', key: 'hunter2' }, note: 'n' };
const sealed = (fields: object, before?: object) => sealSecrets(fields, secrets, { before, box, purpose });

test('a stored document contains no plaintext secret, and can be decrypted only for its own purpose', (t) => {
  const stored = sealed(input);
  t.false(JSON.stringify(stored).includes('hunter2'));
  t.is(openSecret(stored, 'webhook.key', { box, purpose }), 'hunter2');
  t.is(openSecret(stored, 'webhook.key', { box, purpose: 'another' }), undefined);
  t.is(openSecret(stored, 'pin', { box, purpose }), undefined);
});

test('a displayed document has the mask for each existing secret', (t) => {
  t.deepEqual(maskSecrets(sealed(input), secrets), { ...input, webhook: { ...input.webhook, key: secretMask } });
});

test('a returned mask preserves the stored secret, and a new secret replaces it', (t) => {
  const before = sealed(input);
  const merged = sealed({ ...maskSecrets(before, secrets), note: 'changed' }, before);
  t.deepEqual(merged, { ...before, note: 'changed' });
  const replaced = sealed({ ...input, webhook: { ...input.webhook, key: 'another' } }, before);
  t.is(openSecret(replaced, 'webhook.key', { box, purpose }), 'another');
});

const masked = { ...input, webhook: { ...input.webhook, key: secretMask } };
const refused: readonly [string, object, object | undefined, string][] = [
  ['of a new one', masked, undefined, 'webhook.key'],
  [
    'where the address changed',
    { ...masked, webhook: { url: 'https://evil.example/', key: secretMask } },
    sealed(input),
    'webhook.key',
  ],
  ['where the kind changed', { ...masked, kind: 'e-mail' }, sealed(input), 'webhook.key'],
  ['where none was stored', { ...input, pin: secretMask }, sealed(input), 'pin'],
];
for (const [name, fields, before, path] of refused) {
  test(`the mask ${name} is rejected`, (t) => {
    const error = t.throws(() => sealed(fields, before), { instanceOf: ApiError });
    t.is(error?.code, 'VALIDATION_FAILED');
    t.is(error?.details?.[0]?.path, path);
  });
}

test('the audit log records that a secret changed, but not its old or new value', (t) => {
  const before = sealed(input);
  const after = sealed({ ...input, webhook: { ...input.webhook, key: 'another' } }, before);
  const differences = findDifferences(markSecretChanges(before, secrets), markSecretChanges(after, secrets, before));
  t.deepEqual(differences, [{ path: 'webhook.key', before: '(secret)', after: '(secret, changed)' }]);
  t.deepEqual(findDifferences(markSecretChanges(before, secrets), markSecretChanges(before, secrets, before)), []);
});

const urlSecrets = [
  { path: 'url', destination: ['kind'], isIn: (fields: object) => (fields as { kind: string }).kind === 'webhook' },
  { path: 'key', destination: ['kind', 'url'] },
];
const sealUrl = (fields: object, before?: object) => sealSecrets(fields, urlSecrets, { before, box, purpose });
const webhook = { kind: 'webhook', url: 'https://example.com/T0/B0', key: 'hunter2' };

test('a secret that is the destination of another one preserves both by its mask or its own value, and no other value does', (t) => {
  const before = sealUrl(webhook);
  t.false(JSON.stringify(before).includes('T0'));
  t.deepEqual(sealUrl({ kind: 'webhook', url: secretMask, key: secretMask }, before), before);
  const retyped = sealUrl({ ...webhook, key: secretMask }, before);
  t.is(openSecret(retyped, 'key', { box, purpose }), 'hunter2');
  const error = t.throws(() => sealUrl({ kind: 'webhook', url: 'https://evil.example/', key: secretMask }, before));
  t.is((error as ApiError).details?.[0]?.path, 'key');
});

test('a field that is a secret of one kind is shown for another one', (t) => {
  const region = { kind: 'opsgenie', url: 'https://api.eu.example', key: 'hunter2' };
  t.deepEqual(maskSecrets(sealUrl(region), urlSecrets), { ...region, key: secretMask });
});

test('a value from before its field was a secret is masked, usable, and encrypted with the next change', (t) => {
  const before = { ...sealUrl(webhook), url: webhook.url };
  t.is(maskSecrets(before, urlSecrets).url, secretMask);
  t.is(openSecret(before, 'url', { box, purpose }), webhook.url);
  const after = sealUrl({ kind: 'webhook', url: secretMask, key: secretMask }, before);
  t.false(JSON.stringify(after).includes('T0'));
  t.is(openSecret(after, 'url', { box, purpose }), webhook.url);
  t.is(openSecret(after, 'key', { box, purpose }), 'hunter2');
});
