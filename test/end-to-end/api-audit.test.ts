/** The audit log and its evidence over HTTP. The command verifies the exported chain without any store. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test from 'ava';
import { createSystemTransact } from '../../api/changes.ts';
import { eraseDetails } from '../../api/groups/audit/chain/erasure.ts';
import { erasureAction } from '../../api/groups/audit/chain/erasures.ts';
import { EvidenceFileError, verifyEvidenceFile } from '../../api/groups/audit/chain/evidence-file-check.ts';
import { deriveEvidenceKey, parsePublicEvidenceKey } from '../../api/groups/audit/chain/evidence-key.ts';
import { hashLeaf } from '../../api/groups/audit/chain/merkle.ts';
import { computeInclusionRoot, isConsistent } from '../../api/groups/audit/chain/merkle-proofs.ts';
import { createHeadStore } from '../../api/groups/audit/chain/tree-head-store.ts';
import { verifyChain } from '../../api/groups/audit/chain/verify-chain.ts';
import { resignChain } from '../../api/groups/audit/resign-chain.ts';
import { createEvidenceReport } from '../../commands/evidence.ts';
import { createSecretBox, loadSecretKey } from '../../runtime/secret-box.ts';
import { systemClock } from '../../schemas/ports/clock.ts';
import type { StoredMetadata } from '../../schemas/ports/documents.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { type AuditRecord, auditRecords } from '../../schemas/resources/audit-record.ts';
import { parseSettings } from '../../schemas/settings.ts';
import { type Answer, type Harness, startHarness } from './api-harness.ts';

const main = fileURLToPath(new URL('../../main.ts', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'oiq-evidence-'));
let harness: Harness;
test.before(async () => {
  harness = await startHarness();
});
test.after.always(async () => {
  await harness?.close();
  rmSync(directory, { recursive: true, force: true });
});

const getRecords = async (path: string, as: 'auditor' | 'owner' = 'auditor'): Promise<Answer> => {
  const response = await harness.request('GET', path, { as });
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${JSON.stringify(response.body)}`);
  return response;
};

/** Creates a project with a name that a spreadsheet would execute. */
const makeProject = async (name = `=HYPERLINK("x") ${randomUUID()}`): Promise<{ id: string; requestId: string }> => {
  const { status, body, headers } = await harness.request('POST', '/api/projects', { body: { name } });
  if (status !== 200) throw new Error(JSON.stringify(body));
  return { id: body.id, requestId: headers.get('x-request-id') ?? '' };
};

test.serial('records are listed newest first, page by page, and can be filtered by each of their parts', async (t) => {
  const before = new Date().toISOString();
  const created: { id: string; requestId: string }[] = [];
  for (let n = 0; n < 5; n++) created.push(await makeProject());
  const [first] = created;
  const { body } = await getRecords(`/api/audit?resourceId=${first?.id}`);
  t.is(body.items.length, 1);
  const [record] = body.items;
  t.like(record, { action: 'project.create', requestId: first?.requestId, erased: false });
  t.like(record.actor, { type: 'user', name: 'owner@a.example' });
  const { id: ownerId } = record.actor;

  const pages: string[] = [];
  let cursor = '';
  do {
    const page = await getRecords(`/api/audit?action=project.create&limit=2${cursor && `&cursor=${cursor}`}`);
    pages.push(...page.body.items.map(({ resource }: { resource: { id: string } }) => resource.id));
    cursor = page.body.nextCursor ?? '';
  } while (cursor !== '');
  t.deepEqual(pages, created.map(({ id }) => id).reverse());

  for (const [query, count] of [
    [`requestId=${first?.requestId}`, 1],
    [`actor=${ownerId}&action=project.create`, 5],
    ['actor=owner@a.example&resourceType=project', 5],
    ['actor=viewer@a.example&resourceType=project', 0],
    [`resourceType=project&from=${before}`, 5],
    [`resourceType=project&to=${before}`, 0],
    ['resourceType=project&from=now-1h&to=now', 5],
    ['resourceType=project&from=0&to=99999999999999999', 0],
    ['action=no.such', 0],
  ] as const) {
    const found = await harness.request('GET', `/api/audit?${query}`, { as: 'auditor' });
    if (found.status === 400) t.true(query.includes('to=9999'), query);
    else t.is(found.body.items.length, count, query);
  }
  const other = await harness.request('GET', '/api/audit', { as: `token ${await harness.signIn('owner@b.example')}` });
  t.false(JSON.stringify(other.body).includes('owner@a.example'));
});

test.serial('a record shows the difference of its change, without secrets, and the input of its hashes', async (t) => {
  const { id } = await makeProject('Shop');
  const [found] = (await getRecords(`/api/audit?resourceId=${id}`)).body.items;
  const { body } = await getRecords(`/api/audit/${found.id}`);
  t.true(body.changes.some((change: object) => JSON.stringify(change).includes('Shop')));
  t.regex(body.hash, /^[0-9a-f]{64}$/);
  t.is((await harness.request('GET', '/api/audit/000000000001-0000000000000000', { as: 'auditor' })).status, 404);
});

test.serial('actions and resource types are those declared by operations', async (t) => {
  const actions = (await getRecords('/api/audit/actions')).body.items;
  for (const action of ['project.create', 'dead-letter.discard', 'audit-log.export', 'audit-log.erase'])
    t.true(actions.includes(action), action);
  const types = (await getRecords('/api/audit/resource-types')).body.items;
  t.true(types.includes('project') && types.includes('audit-log'));
  t.is(new Set(types).size, types.length);
});

test.serial('an export is recorded, streams every record, and executes nothing in a spreadsheet', async (t) => {
  await makeProject();
  const lines = (await getRecords('/api/audit/export')).body.trim().split('\n');
  const records = lines.map((line: string) => JSON.parse(line));
  t.deepEqual(
    records.map(({ sequence }: { sequence: number }) => sequence),
    records.map((_: unknown, index: number) => index + 1),
  );
  t.is(records.at(-1).action, 'audit-log.export');
  const response = await getRecords('/api/audit/export?format=csv&resourceType=project');
  t.is(response.headers.get('content-type'), 'text/csv; charset=utf-8');
  t.regex(response.headers.get('content-disposition') ?? '', /^attachment; filename="audit-.*\.csv"$/);
  const [head, ...rows] = response.body.trim().split('\r\n');
  t.true(head.startsWith('"sequence","id","at","action"'));
  t.true(rows.some((row: string) => row.includes(`"'=HYPERLINK(""x"")`)));
  t.notRegex(response.body, /(?:^|,)"[=+@-]/m);
  const refused = await harness.request('GET', '/api/audit/export?format=evidence&action=x', { as: 'auditor' });
  t.is(refused.body.details[0].path, 'action');
});

test.serial('the chain verifies, and a record has a proof under a head that anybody can check', async (t) => {
  await makeProject();
  const { body: before } = await getRecords('/api/evidence/head');
  const key = parsePublicEvidenceKey(before.publicKey);
  t.true(key.isSignedBy({ ...before.head, tenantId: 'a' }));
  t.false(key.isSignedBy({ ...before.head, tenantId: 'b' }));
  const { id } = await makeProject();
  const [{ id: recordId }] = (await getRecords(`/api/audit?resourceId=${id}`)).body.items;
  const { body: proved } = await getRecords(`/api/evidence/proofs/${recordId}`);
  const bytes = (text: string): Buffer => Buffer.from(text, 'hex');
  const leaf = hashLeaf(bytes(proved.hash));
  const place = { index: proved.index, size: proved.head.size };
  t.is(computeInclusionRoot(place, leaf, proved.proof.map(bytes))?.toString('hex'), proved.head.root);
  t.true(key.isSignedBy({ ...proved.head, tenantId: 'a' }));
  const { body: now } = await getRecords(`/api/evidence/head?since=${before.head.size}`);
  const sized = ({ size, root }: { size: number; root: string }) => ({ size, root: bytes(root) });
  t.true(now.head.size > before.head.size);
  t.true(isConsistent(sized(before.head), sized(now.head), now.consistency.proof.map(bytes)));
  t.is((await harness.request('GET', '/api/evidence/head?since=99999', { as: 'auditor' })).status, 400);
  const { body: verified } = await getRecords('/api/evidence/verify');
  t.like(verified, { valid: true, firstBreak: null });
  t.is(verified.records, now.records);
  t.is(verified.lastHead.size, now.head.size);
});

const fileOf = (text: string): string => {
  const file = join(directory, `${randomUUID()}.ndjson`);
  writeFileSync(file, text);
  return file;
};

/** Runs the command in an empty directory: it needs no store. */
const runCommand = (env: NodeJS.ProcessEnv, ...args: string[]): Promise<{ code: number; output: string }> =>
  promisify(execFile)(process.execPath, [main, 'evidence', ...args], { cwd: directory, env }).then(
    ({ stdout }) => ({ code: 0, output: stdout }),
    ({ code, stdout, stderr }) => ({ code, output: `${stdout}${stderr}` }),
  );

/** The result for a file: `good`, the kind of its first break, or why it is not an evidence file. */
const foundIn = (text: string): Promise<string> =>
  verifyEvidenceFile(fileOf(text)).then(
    ({ firstBreak }) => (firstBreak === undefined ? 'good' : `${firstBreak.kind} ${firstBreak.sequence}`),
    (error: unknown) => (error instanceof EvidenceFileError ? error.message : String(error)),
  );

test.serial('an exported chain verifies without any store, and a modification in it is named', async (t) => {
  for (let n = 0; n < 3; n++) await makeProject();
  const { body: text } = await getRecords('/api/audit/export?format=evidence');
  const lines: string[] = text.trimEnd().split('\n');
  const { keyId } = JSON.parse(lines[0] ?? '');
  const isRecord = (line: string): boolean => line.startsWith('{"type":"record"');
  const fifth = lines.findIndex((line) => line.includes('"sequence":5,'));
  const changed = (lineNumber: number, edit: (record: AuditRecord) => void): string => {
    const line = JSON.parse(lines[lineNumber] ?? '');
    edit(line.record);
    return lines.with(lineNumber, JSON.stringify(line)).join('\n');
  };
  const without = (start: number, count = 1): string => lines.toSpliced(start, count).join('\n');
  const lastHead = lines.findLastIndex((line) => line.startsWith('{"type":"head"'));
  const records = lines.filter(isRecord).length;
  const reordered = lines.with(fifth, lines[fifth + 1] ?? '').with(fifth + 1, lines[fifth] ?? '');
  const cases: readonly (readonly [what: string, text: string, found: RegExp])[] = [
    ['as it is', text, /^good$/],
    ['an edited record', changed(fifth, (record) => Object.assign(record, { action: 'x.y' })), /^record-edited 5$/],
    [
      'edited details',
      changed(fifth, ({ details }) => Object.assign(details ?? {}, { address: '' })),
      /^details-edited 5$/,
    ],
    ['details taken out', changed(fifth, (record) => Object.assign(record, { details: null })), /^details-removed 5$/],
    ['a record left out', without(fifth), /^record-removed 5$/],
    ['records reordered', reordered.join('\n'), /^records-reordered 5$/],
    ['the last record left out', without(lastHead - 1), /^chain-truncated/],
    [
      'a head moved to where it is not compared',
      [...lines.slice(0, 1), lines[lastHead], ...lines.slice(1)].join('\n'),
      /^head-misplaced/,
    ],
    ['no last line', lines.slice(0, -1).join('\n'), /^the file was cut/],
    ['half a line', text.slice(0, -40), /the file was cut or changed/],
    ['something after the end', `${text}${lines[fifth]}\n`, /^line \d+ is not a valid record/],
    ['not such a file', 'hello\n', /^line 1 is not JSON/],
    ['another JSON file', '{}\n', /^this is not an evidence file/],
    ['nothing', '', /^this is not an evidence file/],
  ];
  for (const [what, given, found] of cases) t.regex(await foundIn(given), found, what);

  const good = await runCommand({}, 'verify', fileOf(text), '--key', keyId);
  t.is(good.code, 0, good.output);
  t.regex(good.output, new RegExp(`records +${records} verified[^]*VERIFIED: no record was changed`));
  const own = await runCommand({ OIQ_DATA_DIR: harness.directory }, 'key');
  t.true(own.output.startsWith(`key ${keyId}\n-----BEGIN PUBLIC KEY-----`), own.output);
  const bad = await runCommand({}, 'verify', fileOf(without(fifth)));
  t.is(bad.code, 1);
  t.regex(bad.output, /NOT VERIFIED: record 5 is missing/);
  const unsigned = lines.filter((line) => !line.startsWith('{"type":"head"')).join('\n');
  for (const [given, key, expectedText] of [
    [unsigned, keyId, /NOT VERIFIED: no record is signed/],
    [text, '0123456789abcdef', /NOT VERIFIED: it is signed with/],
    ['', undefined, /NOT VERIFIED: this is not an evidence file/],
  ] as const) {
    const report = await createEvidenceReport(fileOf(given), key);
    t.false(report.isVerified);
    t.regex(report.text, expectedText);
  }
});

test.serial(
  'an exported chain states who erased how many details, and a chain with an unsigned erasure does not verify',
  async (t) => {
    const key = deriveEvidenceKey(
      createSecretBox(await loadSecretKey(parseSettings({ OIQ_DATA_DIR: harness.directory }))),
    );
    const count = await eraseDetails(
      { documents: harness.documents, clock: systemClock, key },
      { tenantId: 'b', actor: { type: 'system', id: '' }, requestId: randomUUID() },
    );
    t.true(count > 0);
    const as = `token ${await harness.signIn('owner@b.example')}` as const;
    const { body: text } = await harness.request('GET', '/api/audit/export?format=evidence', { as });
    const { isVerified, text: reportText } = await createEvidenceReport(fileOf(text));
    t.true(isVerified, reportText);
    t.regex(
      reportText,
      new RegExp(`erased +the details of ${count} records by the system at .*, of everybody \\(record \\d+\\)`),
    );
    t.regex(reportText, new RegExp(`^VERIFIED: no record .*; the details of ${count} records were erased`, 'm'));
    t.false(reportText.includes('nothing was'));
    const online = await harness.request('GET', '/api/evidence/verify', { as });
    t.like(online.body, { valid: true, erasedDetails: count });
    t.like(online.body.erasures, [{ subject: null, actor: { type: 'system' }, details: count, signed: true }]);

    const unsignedLine = (line: string): string =>
      line.includes(erasureAction) ? line.replace(/,"signature":"[^"]+"/, '') : line;
    const unsigned = await createEvidenceReport(fileOf(text.split('\n').map(unsignedLine).join('\n')));
    t.false(unsigned.isVerified);
    t.regex(unsigned.text, /erased +no details, because the erasure is not signed/);
    t.regex(unsigned.text, /NOT VERIFIED: the details of record 1 were deleted by the unsigned erasure of record \d+/);
    // The stored chain has the same break, and both verifiers report it.
    const records = harness.documents.forTenant('b').collection(auditRecords);
    const [{ id, signature: _, ...erasure }] = (await records.list({ filter: { action: erasureAction } })).items as [
      AuditRecord & StoredMetadata,
    ];
    await records.replace(id, erasure);
    const { body: found } = await harness.request('GET', '/api/evidence/verify', { as });
    t.like(found, { valid: false, firstBreak: { kind: 'erasure-unsigned', sequence: 1 }, erasedDetails: 0 });
    const { body: exported } = await harness.request('GET', '/api/audit/export?format=evidence', { as });
    t.regex(
      (await createEvidenceReport(fileOf(exported))).text,
      new RegExp(`NOT VERIFIED: ${found.firstBreak.message}`),
    );
  },
);

test.serial(
  'the operator can sign a chain that lost all its signed tree heads as it is, and this is recorded',
  async (t) => {
    const { documents, bus, columns } = harness;
    const recordAt = (hours: number) =>
      createSystemTransact(
        { documents, clock: { now: () => Date.now() - hours * 3_600_000 } },
        'thing.create',
      )(async ({ record }) => record({ id: 'x', tenantId: 'lost' }));
    for (const hours of [5, 4, 3]) await recordAt(hours);
    const settings = parseSettings({ OIQ_DATA_DIR: harness.directory });
    const key = deriveEvidenceKey(createSecretBox(await loadSecretKey(settings)));
    const heads = createHeadStore(bus, columns);
    const verified = () => verifyChain({ documents, heads, key, clock: systemClock }, 'lost');
    t.is((await verified()).firstBreak?.kind, 'heads-missing');
    const sign = (tenantId: string) =>
      resignChain({ documents, bus, columns, clock: systemClock, log: silentLog, settings }, tenantId);
    await t.throwsAsync(sign('nobody'), { message: 'nobody has no audit chain' });
    t.is(await sign('lost'), 4);
    t.like(await verified(), { firstBreak: undefined, records: 4, heads: 1 });
    const { items } = await documents
      .forTenant('lost')
      .collection(auditRecords)
      .list({ sort: { id: -1 }, limit: 1 });
    t.like(items[0], { action: 'audit-log.sign', actor: { type: 'system' } });
    await t.throwsAsync(sign('lost'), { message: /has signed tree heads/ });
    await heads.close();
  },
);

test.serial('a name with an unpaired surrogate is refused as invalid, wherever it would be recorded', async (t) => {
  const { status, body } = await harness.request('POST', '/api/projects', { body: { name: '\ud800x' } });
  t.is(status, 400);
  t.is(body.error, 'VALIDATION_FAILED');
});

test.serial('a record modified in the store is named by the verification, and has no proof any more', async (t) => {
  const records = harness.documents.forTenant('a').collection(auditRecords);
  const [second] = (await records.list({ sort: { id: 1 }, limit: 2 })).items.slice(1);
  if (second === undefined) throw new Error('there is no second record');
  await records.update(second.id, { hash: 'f'.repeat(64) });
  const { body } = await getRecords('/api/evidence/verify');
  t.like(body, { valid: false, records: 1, firstBreak: { kind: 'record-edited', sequence: 2 } });
  t.is((await harness.request('GET', `/api/evidence/proofs/${second.id}`, { as: 'auditor' })).body.error, 'CONFLICT');
  await records.update(second.id, { hash: second.hash });
  t.true((await getRecords('/api/evidence/verify')).body.valid);
});

test.serial('an export that cannot continue aborts the connection, and is not a complete response', async (t) => {
  const records = harness.documents.forTenant('a').collection(auditRecords);
  const [last] = (await records.list({ sort: { id: -1 }, limit: 1 })).items;
  if (last === undefined) throw new Error('there is no record');
  await records.update(last.id, { details: {} as never });
  await t.throwsAsync(harness.request('GET', '/api/audit/export', { as: 'auditor' }));
  await records.update(last.id, { details: last.details });
  t.true((await getRecords('/api/evidence/verify')).body.valid);
});

test.serial('a role has signed all records when it stops', async (t) => {
  const own = await startHarness({ sharing: harness });
  const created = await own.request('POST', '/api/projects', { body: { name: randomUUID() } });
  t.is(created.status, 200);
  await own.close();
  const { body } = await getRecords('/api/evidence/verify');
  t.like(body, { valid: true, unsigned: 0 });
});
