/**
 * Secrets are shown once, to their recipient: never in logs, metrics, audit records, errors, later responses or plain
 * text in stores. The test runs the example of each operation with the embedded stores, and so also checks the declared
 * responses.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { operations } from '../../api/groups/index.ts';
import type { Operation } from '../../api/kernel/operation.ts';
import type { Metrics } from '../../schemas/ports/metrics.ts';
import { auditRecords } from '../../schemas/resources/audit-record.ts';
import type { OperationRequest, World } from '../contract/example.ts';
import { unshown } from '../contract/examples.ts';
import { wrongWith } from '../contract/operations-success.ts';
import { isStrict } from '../contract/schema-values.ts';
import { cookiesOf, secretsIn } from '../contract/secrets.ts';
import { startWorlds } from '../contract/world.ts';
import { type Answer, password } from '../end-to-end/api-harness.ts';

const logLines: string[] = [];
const logAt =
  (level: string) =>
  (fields: Readonly<Record<string, unknown>>, message: string): void => {
    // JSON omits the text fields of errors.
    const text = JSON.stringify(fields, (_, value) =>
      value instanceof Error ? [value.message, value.stack, String(value.cause)] : value,
    );
    logLines.push(`${level} ${message} ${text}`);
  };
const log = { info: logAt('info'), warn: logAt('warn'), error: logAt('error') };
const measured = (...label: unknown[]): void => void logLines.push(`metric ${JSON.stringify(label)}`);
const metrics = { add: measured, observe: measured, set: measured } as unknown as Metrics;

let a: World;
let close: () => Promise<void>;
test.before(async () => {
  const worlds = await startWorlds({ log, metrics });
  ({ a, close } = worlds);
});
test.after.always(() => close?.());

const built = operations.filter(({ built: is, operationId }) => is && !(operationId in unshown));
const named = ({ method, path }: Operation): string => `${method} ${path}`;

/** Keys of attributes, as lists of attributes contain them. */
const isAttribute = (text: string): boolean => /^[a-z0-9_]+(\.[a-z0-9_]+)+$/.test(text);

/** Whether nobody can guess the value: words, such as the code of a finding, and addresses are not secrets. */
const isSecret = (text: string): boolean =>
  text === password ||
  (/^[^\s/]{9,}$/.test(text) && /\d/.test(text) && /[A-Za-z]/.test(text) && !isAttribute(text)) ||
  text.startsWith('otpauth:');

const bodySecrets = (body: unknown): string[] => secretsIn(body).filter(isSecret);

/** Each secret with the request that returned or contained it. */
const known = new Map<string, string>();

const learn = (operation: Operation, { body, token, headers }: OperationRequest, response: Answer): void => {
  const brought = [...bodySecrets(body), token ?? '', headers?.['cookie'] ?? ''];
  for (const secret of [...brought, ...bodySecrets(response.body), ...cookiesOf(response)])
    if (secret !== '' && !known.has(secret)) known.set(secret, named(operation));
};

const leaked = (text: string): [secret: string, of: string][] => [...known].filter(([secret]) => text.includes(secret));

/** An error about a field or its format must not repeat other content of the body. */
const refusalsOf = async (operation: Operation, request: OperationRequest): Promise<Answer[]> => {
  if (operation.body === undefined) return [];
  const body = JSON.stringify(request.body ?? {});
  const surprising = body.replace(/\}$/, body === '{}' ? '"surprise":1}' : ',"surprise":1}');
  // Documents in external formats can have any field.
  const wrong = isStrict(operation.body) ? [surprising, `${body}x`] : [`${body}x`];
  return Promise.all(wrong.map((text) => a.call(operation, { ...request, body: text })));
};

/** Deviations of operations from their declared responses or audit records. */
const undeclared: string[] = [];
let apiResponse = 0;

test.serial('no response repeats a secret that was shown or sent before, not even an error', async (t) => {
  const failures: string[] = [];
  for (const operation of built) {
    const request = await a.example(operation);
    for (const refused of await refusalsOf(operation, request)) {
      if (refused.status !== 400) failures.push(`${named(operation)} answers ${refused.status}`);
      for (const secret of bodySecrets(request.body))
        if (JSON.stringify(refused.body).includes(secret)) failures.push(`${named(operation)} repeats ${secret}`);
    }
    const response = await a.call(operation, request);
    apiResponse++;
    undeclared.push(...(await wrongWith(a, operation, request, response)).map((what) => `${named(operation)} ${what}`));
    for (const [secret, of] of leaked(JSON.stringify(response.body)))
      failures.push(`${named(operation)} shows ${secret} of ${of}`);
    learn(operation, request, response);
  }
  t.deepEqual(failures, []);
  const places = new Set(known.values());
  t.log(`${known.size} secrets of ${places.size} operations`);
  t.true(places.size >= 5, `secrets were seen in ${[...places].join(', ')}`);
});

test.serial('every built operation returned its declared example, and left its audit record', (t) => {
  t.deepEqual(undeclared, []);
  t.is(apiResponse, built.length);
});

test.serial('neither logs nor metrics contain a secret', (t) => {
  t.true(logLines.some((line) => line.startsWith('metric')));
  t.deepEqual(leaked(logLines.join('\n')), []);
});

test.serial('no audit record contains a secret', async (t) => {
  let records = 0;
  const leaks: string[] = [];
  for await (const record of a.harness.documents.findInAllTenants(auditRecords)) {
    records++;
    for (const [secret, of] of leaked(JSON.stringify(record))) leaks.push(`${record.action} holds ${secret} of ${of}`);
  }
  t.true(records > 10);
  t.deepEqual(leaks, []);
});

test.serial('the store contains no secret in plain text', (t) => {
  const files = readdirSync(a.harness.directory).filter((name) => name.startsWith('documents.sqlite'));
  t.true(files.length > 0);
  const stored = files.map((name) => readFileSync(join(a.harness.directory, name), 'latin1')).join('\n');
  t.true(stored.includes('owner@a.example'), 'what is no secret is found');
  t.deepEqual(leaked(stored), []);
});
