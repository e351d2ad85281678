/** Schemathesis over every built operation of a running program: no 5xx, and no answer but those that the document promises. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { runSchemathesis, schemathesisMissing } from '../services/schemathesis.ts';
import { stretched } from '../waiting.ts';
import { signIn, startOiq } from './oiq-process.ts';

const serial = schemathesisMissing === undefined ? test.serial : test.serial.skip;
if (schemathesisMissing !== undefined) console.log(`# ${schemathesisMissing}; its suite is skipped`);

const directory = mkdtempSync(join(tmpdir(), 'oiq-schemathesis-'));
test.after.always(() => rmSync(directory, { recursive: true, force: true }));

const seed = 20260101;
const checks = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
  'negative_data_rejection',
  'unsupported_method',
];

/** They take away the session or the organization with which all others are asked. */
const ending = ['logout', 'endSession', 'switchTenant', 'changePassword'];

serial('nothing that the document allows or forbids finds a 5xx or an answer that it does not promise', async (t) => {
  // A minute or two where little else runs.
  const oiq = await startOiq({ dataDirectory: join(directory, 'data') });
  t.teardown(() => oiq.kill());
  const token = await signIn(oiq.http);
  const { code, output } = await runSchemathesis(
    [
      `${oiq.http}/api/openapi.json`,
      ...['--header', `Authorization: Bearer ${token}`],
      ...['--exclude-by', '/x-oiq-built == false'],
      ...ending.flatMap((operation) => ['--exclude-operation-id', operation]),
      ...['--phases', 'examples,coverage,fuzzing', '--max-examples', '10', '--seed', String(seed)],
      ...['--checks', checks.join(','), '--no-color', '--no-shrink'],
      // It stops an operation when making its examples took half a minute, which tells of the machine.
      ...['--suppress-health-check', 'too_slow'],
      ...['--request-timeout', String(Math.ceil(stretched(20_000) / 1000)), '--warnings', 'off'],
    ],
    directory,
  );
  const lines = output.split('\n').map((line) => line.slice(0, 400));
  t.is(code, 0, lines.join('\n'));
  t.log(...lines.filter((line) => /Selected|Tested|generated/.test(line)));
  const answer = await fetch(`${oiq.http}/auth/session`, { headers: { authorization: `Bearer ${token}` } });
  t.is(answer.status, 200, 'the session with which everything was asked is still one');
});
