/** Secrets in texts and records: detection, findings, and redaction. */
import test from 'ava';
import { logSecrets } from '../../../processors/secrets/log-secrets.ts';
import { spanSecrets } from '../../../processors/secrets/span-secrets.ts';
import { otlpProtobuf } from '../../../receivers/engine/body-format.ts';
import { republishRejected, toDeadLetters } from '../../../receivers/engine/dead-letters.ts';
import { prepareBody } from '../../../receivers/engine/prepare.ts';
import { deriveFingerprintKey, setFingerprintKey } from '../../../runtime/fingerprint-key.ts';
import { createSecretBox } from '../../../runtime/secret-box.ts';
import { decodeDeadLetter } from '../../../schemas/dead-letter.ts';
import { PermanentError } from '../../../schemas/errors.ts';
import { generateLicenseKey } from '../../../schemas/license-key-format.ts';
import type { SecretFinding } from '../../../schemas/secret-findings.ts';
import { topics } from '../../../schemas/topics.ts';
import { mayContainSecret } from '../../../subjects/secrets/prefilter.ts';
import { redactText } from '../../../subjects/secrets/redact.ts';
import { findRedactions } from '../../../subjects/secrets/redaction.ts';
import { secretRules } from '../../../subjects/secrets/rules.ts';
import { applyRule, findSecrets } from '../../../subjects/secrets/scan.ts';
import { firstMs, TaskRun } from '../run-task.ts';
import { logsRequest } from '../sink-tables.ts';
import cases from './gitleaks-cases.json' with { type: 'json' };

const secretBox = createSecretBox('k'.repeat(40));
const fingerprintKey = deriveFingerprintKey(secretBox);
setFingerprintKey(fingerprintKey);
const redaction = { tenantId: 'acme', fingerprintKey };

const token = ['ghp', 'aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5'].join('_');
const namesOf = (text: string, name = ''): string[] => findSecrets(text, name).map(({ rule }) => rule.id);
const mayContain = (text: string): boolean => {
  const bytes = Buffer.from(text);
  return mayContainSecret(bytes, 0, bytes.length);
};

test('true positives of gitleaks are found, and none of its false positives', (t) => {
  const rules = new Map(secretRules.map((rule) => [rule.id, rule]));
  for (const [kind = '', id = '', path = '', encoded = ''] of cases) {
    const text = Buffer.from(encoded, 'base64').toString();
    const found = findSecrets(text, '', path);
    const ids = found.map(({ rule }) => rule.id);
    if (kind === 'fp') t.false(ids.includes(id), `${id} ${path}: ${encoded}`);
    else {
      t.true(found.length > 0 && mayContain(text), `${id} ${path}: ${encoded}`);
      const rule = rules.get(id);
      t.true(ids.includes(id) || (rule !== undefined && applyRule(rule, text).length > 0), `${id}: ${encoded}`);
    }
  }
});

const encoded: readonly (readonly [name: string, text: string])[] = [
  ['plain', `login with ${token}`],
  ['percent-encoded parameter', encodeURIComponent(`a=1&token=${token}`)],
  ['percent-encoded throughout', Array.from(Buffer.from(token), (byte) => `%${byte.toString(16)}`).join('')],
  ['base64', `header ${Buffer.from(`token ${token}`).toString('base64')} end`],
  ['base64url', Buffer.from(JSON.stringify({ value: `>>>${token}` })).toString('base64url')],
  ['JSON in JSON', JSON.stringify(JSON.stringify({ headers: { value: token } }))],
];
for (const [name, text] of encoded)
  test(`a secret is found and replaced in a text that is ${name}`, (t) => {
    t.true(mayContain(text));
    t.deepEqual(namesOf(text), ['github-pat']);
    const redacted = redactText(text, '', redaction);
    t.deepEqual(
      findRedactions(redacted).map(({ ruleId }) => ruleId),
      ['github-pat'],
    );
    t.false(redacted.includes(token));
    t.deepEqual(namesOf(redacted), []);
  });

test('the name of an attribute counts as the name of its value', (t) => {
  const value = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYzx81LwQv09';
  t.deepEqual(namesOf(value), []);
  t.deepEqual(namesOf(value, 'aws_secret_access_key'), ['generic-api-key']);
  const redacted = redactText(value, 'aws_secret_access_key', redaction);
  t.regex(redacted, /^\[redacted:generic-api-key:[0-9a-f]{24}\]$/);
});

for (const text of [
  'GET /api/products/1234?page=2 200 0.123 s, trace 4bf92f3577b34da6a3ce929d0e0e4736',
  JSON.stringify({ msg: 'order placed', token_count: 17, auth: 'ok', userId: 'u-8812', key: 'a' }),
  'the password of user 17 was changed; api key rotated',
])
  test(`an ordinary text has no secret, and is not searched: ${text.slice(0, 30)}`, (t) => {
    t.false(mayContain(text));
    t.deepEqual(namesOf(text), []);
    t.is(redactText(text, '', redaction), text);
  });

test('keys of this platform need a valid checksum', (t) => {
  const key = generateLicenseKey();
  t.deepEqual(namesOf(`x-api-key ${key}`), ['oiq-license-key']);
  t.deepEqual(namesOf(`x-api-key ${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`), []);
});

const attribute = (key: string, stringValue: string): object => ({ key, value: { stringValue } });
const recordOf = (body: string, attributes: Readonly<Record<string, string>> = {}): object => ({
  timeUnixNano: `${firstMs}000000`,
  body: { stringValue: body },
  attributes: Object.entries(attributes).map(([key, value]) => attribute(key, value)),
});

test('findings of log records name field, rule and fingerprint, and never contain the secret', (t) => {
  const run = new TaskRun(logSecrets);
  run.logs([recordOf(`a ${token} and again ${token}`), recordOf('nothing', { 'http.url': `https://x/?t=${token}` })], {
    'service.name': 'cart',
    'deploy.token': token,
  });
  const findings = run.emitted<SecretFinding>(topics.secretFindings);
  t.deepEqual(findings.map(({ service, field, rule, occurrences }) => [service, field, rule, occurrences]).sort(), [
    ['cart', 'attribute.http.url', 'github-pat', 1],
    ['cart', 'body', 'github-pat', 2],
    ['cart', 'resource.deploy.token', 'github-pat', 1],
    ['cart', 'resource.deploy.token', 'github-pat', 1],
  ]);
  t.is(new Set(findings.map(({ fingerprint }) => fingerprint)).size, 1);
  t.deepEqual([...new Set(findings.map(({ preview }) => preview))], [token.slice(0, 4)]);
  t.false(JSON.stringify(findings).includes(token.slice(4, 14)));
  const other = new TaskRun(logSecrets);
  other.logs([recordOf(token)], { 'service.name': 'cart' }, { tenantId: 'umbrella' });
  t.not(other.emitted<SecretFinding>(topics.secretFindings)[0]?.fingerprint, findings[0]?.fingerprint);
});

test('secrets in spans and their events are found', (t) => {
  const run = new TaskRun(spanSecrets);
  run.spans([
    {
      traceId: Buffer.alloc(16, 1),
      spanId: Buffer.alloc(8, 1),
      name: 'GET',
      startTimeUnixNano: `${firstMs}000000`,
      endTimeUnixNano: `${firstMs}000001`,
      attributes: [attribute('url.full', `https://x/?access=${token}`)],
      events: [
        { name: 'exception', timeUnixNano: `${firstMs}000000`, attributes: [attribute('exception.message', token)] },
      ],
    },
  ]);
  t.deepEqual(
    run.emitted<SecretFinding>(topics.secretFindings).map(({ field }) => field),
    ['attribute.url.full', 'event.exception.message'],
  );
});

test('a redacted request has no secret, and its records are reported with the same fingerprint', (t) => {
  const body = Buffer.from(
    logsRequest({
      resourceLogs: [
        {
          resource: { attributes: [attribute('service.name', 'cart')] },
          scopeLogs: [{ logRecords: [recordOf(`a ${token}`, { password: 'Zx9kQ2vLp81mR44t' })] }],
        },
      ],
    }),
  );
  const shape = { signal: 'logs', format: otlpProtobuf, encoding: 'identity', redaction } as const;
  const { messageParts, records } = prepareBody(shape, body, 1_000_000);
  t.is(records, 1);
  const published = Buffer.concat(messageParts.map(({ bytes }) => bytes));
  t.false(published.includes(token));
  t.false(published.includes('Zx9kQ2vLp81mR44t'));
  const [found] = findRedactions(published.toString());
  const run = new TaskRun(logSecrets);
  run.logs([recordOf(`a ${token}`), recordOf(`a [redacted:github-pat:${found?.fingerprint}]`)], {
    'service.name': 'cart',
  });
  const findings = run.emitted<SecretFinding>(topics.secretFindings);
  t.is(findings[0]?.findingId, findings[1]?.findingId);
  t.deepEqual(
    findings.map(({ isRedacted, preview }) => [isRedacted, preview]),
    [
      [false, token.slice(0, 4)],
      [true, ''],
    ],
  );
});

test('a request without secrets is published unchanged', (t) => {
  const body = Buffer.from(
    logsRequest({ resourceLogs: [{ scopeLogs: [{ logRecords: [recordOf('GET /cart 200')] }] }] }),
  );
  const shape = { signal: 'logs', format: otlpProtobuf, encoding: 'identity', redaction } as const;
  t.is(prepareBody(shape, body, 1_000_000).messageParts[0]?.bytes, body);
});

test('a malformed body of a project with redaction is stored encrypted, and replayed without its secrets', (t) => {
  const body = Buffer.from(logsRequest({ resourceLogs: [{ scopeLogs: [{ logRecords: [recordOf(`a ${token}`)] }] }] }));
  const shape = { signal: 'logs', format: otlpProtobuf, encoding: 'identity', redaction } as const;
  const request = {
    caller: { tenantId: 'acme', projectId: 'shop', keyId: 'key', shards: 1 },
    signal: 'logs' as const,
    format: 'otlp' as const,
    source: '',
    traceparent: '',
    receivedAtMs: firstMs,
    receiver: 'otlp-http',
    shape,
    contentType: '',
  };
  const error = new PermanentError('malformed', `unexpected ${token}`);
  const [message] = toDeadLetters(request, [body], { error, isTruncated: false, secretBox });
  const stored = JSON.stringify([message?.headers, Buffer.from(message?.value ?? []).toString()]);
  t.false(stored.includes(token));
  t.false(Buffer.from(message?.value ?? []).includes(token));
  const sealed = Buffer.from(message?.value ?? []);
  const replayed = republishRejected(decodeDeadLetter(message?.headers ?? {}), sealed, 1, {
    format: otlpProtobuf,
    limitBytes: 1_000_000,
    times: undefined,
    secretBox,
  });
  t.is(findRedactions(Buffer.from(replayed[0]?.value ?? []).toString()).length, 1);
});

test('searching takes linear time for texts that almost match', (t) => {
  const pieces = cases
    .filter(([kind]) => kind === 'tp')
    .map(([, , , text = '']) => Buffer.from(text, 'base64').toString());
  for (const piece of pieces) {
    const almost = piece.slice(0, Math.ceil(piece.length * 0.7));
    // A quadratic search of these 200,000 characters would exceed the time limit of the test.
    for (const rule of secretRules)
      if (rule.keywords.some((word) => almost.toLowerCase().includes(word)))
        rule.findMatches(almost.repeat(Math.ceil(200_000 / almost.length)));
  }
  t.pass();
});
