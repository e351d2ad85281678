/** Schemathesis over every operation of a running program: no 5xx, and only responses that the document declares. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { schemathesisCases, schemathesisExamples, schemathesisFuzzed, schemathesisParts } from '../budget.ts';
import { runSeed, selectPart, selectRunPart } from '../parts.ts';
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

/** These operations end the session or switch the organization that all other requests use. */
const ending = ['logout', 'endSession', 'switchTenant', 'changePassword'];

/** 413 is a valid rejection too, which Schemathesis does not expect by default. */
const settings = `[checks.negative_data_rejection]
expected-statuses = [400, 401, 403, 404, 405, 406, 409, 413, 415, 422, 428, 429]
`;

interface Document {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly operationId: string; readonly 'x-oiq-built'?: boolean }>>>
  >;
}

/** The operations of a run: generated requests for a part of all, and stateful requests for a smaller part. */
const runsOver = ({ paths }: Document): readonly (readonly string[])[] => {
  const operations = Object.values(paths)
    .flatMap((path) => Object.values(path))
    .filter((operation) => operation['x-oiq-built'] !== false)
    .map((operation) => operation.operationId)
    .filter((operation) => !ending.includes(operation))
    .toSorted();
  const chosen = (ids: readonly string[]): readonly string[] => ids.flatMap((id) => ['--include-operation-id', id]);
  return [
    [...chosen(selectPart(operations, schemathesisFuzzed)), '--phases', 'examples,fuzzing'],
    [...chosen(selectPart(operations, schemathesisParts)), '--phases', 'coverage'],
  ];
};

serial('neither valid nor invalid requests under the document cause a 5xx or an undocumented response', async (t) => {
  // Takes a minute or two on an idle machine.
  const oiq = await startOiq({ dataDirectory: join(directory, 'data') });
  t.teardown(() => oiq.kill());
  const token = await signIn(oiq.http);
  // The first response includes the generation of the document, for which Schemathesis may not wait long enough.
  const text = await (await fetch(`${oiq.http}/api/openapi.json`)).text();
  const document = join(directory, 'openapi.json');
  writeFileSync(document, text);
  writeFileSync(join(directory, 'schemathesis.toml'), settings);
  const { part, of } = selectRunPart(schemathesisParts);
  for (const chosen of runsOver(JSON.parse(text))) {
    const { code, output } = await runSchemathesis(
      [
        ...[document, '--url', oiq.http, ...chosen],
        ...['--header', `Authorization: Bearer ${token}`],
        ...['--max-examples', String(schemathesisExamples), '--seed', String(seed)],
        ...['--checks', checks.join(','), '--no-color', '--no-shrink'],
        // It stops an operation if generating examples takes half a minute, which depends on the machine.
        ...['--suppress-health-check', 'too_slow'],
        ...['--request-timeout', String(Math.ceil(stretched(20_000) / 1000)), '--warnings', 'off'],
      ],
      directory,
      { cases: schemathesisCases, by: runSeed },
    );
    const lines = output.split('\n').map((line) => line.slice(0, 400));
    t.is(code, 0, lines.join('\n'));
    const [, selected] = /Operations: +(\d+) selected/.exec(output) ?? [];
    const [, tested] = /^ +Tested: (\d+)/m.exec(output) ?? [];
    t.is(tested, selected, `each operation is asked\n${lines.join('\n')}`);
    t.log(
      `part ${part} of ${of} (TEST_SEED=${runSeed})`,
      ...lines.filter((line) => /Selected|Tested|generated/.test(line)),
    );
  }
  const response = await fetch(`${oiq.http}/auth/session`, { headers: { authorization: `Bearer ${token}` } });
  t.is(response.status, 200, 'the session of all requests is still valid');
});
