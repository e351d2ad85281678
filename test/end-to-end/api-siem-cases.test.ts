/** Cases through the API: states, response times, comments and evidence. */
import { createHash } from 'node:crypto';
import test from 'ava';
import { caseEvidence } from '../../schemas/resources/security-case.ts';
import { type Harness, startHarness } from './api-harness.ts';

let harness: Harness;
test.before(async () => {
  harness = await startHarness();
});
test.after.always(() => harness.close());

const open = async (title: string): Promise<string> => {
  const { status, body } = await harness.request('POST', '/api/siem/cases', {
    as: 'editor',
    body: { title, severity: 'high', signalIds: ['s1', 's2'] },
  });
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body.id;
};
const change = (id: string, body: object) => harness.request('PATCH', `/api/siem/cases/${id}`, { as: 'editor', body });

test('a case shows when it was responded to, contained and closed, or why not yet', async (t) => {
  const id = await open('times');
  const opened = (await harness.request('GET', `/api/siem/cases/${id}`, { as: 'viewer' })).body;
  t.deepEqual(opened.timeToRespond, { value: null, reason: 'it was not responded to yet' });
  t.deepEqual(opened.timeToClose, { value: null, reason: 'it was not closed yet' });

  const { body: investigated } = await change(id, { state: 'investigating' });
  t.true(investigated.timeToRespond.value >= 0);
  t.is(investigated.timeToContain.value, null);

  const { body: contained } = await change(id, { state: 'contained' });
  t.true(contained.timeToContain.value >= contained.timeToRespond.value);

  const { body: closed } = await change(id, { state: 'closed', resolution: 'true-positive' });
  t.is(closed.containedAt, contained.containedAt);
  t.is(closed.respondedAt, investigated.respondedAt);
  t.true(closed.timeToContain.value >= closed.timeToRespond.value);
  t.true(closed.timeToClose.value >= 0);

  const { body: reopened } = await change(id, { state: 'investigating', resolution: null });
  t.is(reopened.closedAt, null);
  t.is(reopened.respondedAt, investigated.respondedAt);
});

test('a case that is closed at once has no time to contain, and states why', async (t) => {
  const id = await open('closed at once');
  const { body } = await change(id, { state: 'closed', resolution: 'false-positive' });
  t.is(body.containedAt, null);
  t.deepEqual(body.timeToContain, { value: null, reason: 'it was closed, but it was never marked as contained' });
  t.true(body.timeToClose.value >= 0);
});

test('a resolution requires a closed case, and an assignee is a user of the organization', async (t) => {
  const id = await open('refused');
  const misplaced = await change(id, { resolution: 'false-positive' });
  t.is(misplaced.status, 400);
  t.is(misplaced.body.details[0].path, 'resolution');
  const stranger = await change(id, { assigneeId: 'nobody' });
  t.is(stranger.status, 400);
  t.is(stranger.body.details[0].path, 'assigneeId');
});

test('cases are found by their signal, state and severity', async (t) => {
  const id = await open('found');
  const ids = async (query: string): Promise<string[]> => {
    const { body } = await harness.request('GET', `/api/siem/cases?${query}`, { as: 'viewer' });
    return body.items.map((item: { id: string }) => item.id);
  };
  t.true((await ids('signalId=s2&state=open')).includes(id));
  t.false((await ids('signalId=s3')).includes(id));
  t.false((await ids('severity=low')).includes(id));
});

test('comments are listed in order, with their author', async (t) => {
  const id = await open('commented');
  for (const text of ['first', 'second'])
    t.is(
      (await harness.request('POST', `/api/siem/cases/${id}/comments`, { as: 'editor', body: { text } })).status,
      200,
    );
  const { body } = await harness.request('GET', `/api/siem/cases/${id}`, { as: 'viewer' });
  t.deepEqual(
    body.comments.map(({ text, authorName }: { text: string; authorName: string }) => [text, authorName.length > 0]),
    [
      ['first', true],
      ['second', true],
    ],
  );
});

test('evidence has its hash in the audit chain, and a modification outside the API is detected', async (t) => {
  const id = await open('evidence');
  const content = Buffer.from('a log line\n');
  const sha256 = createHash('sha256').update(content).digest('hex');
  const attached = await harness.request('POST', `/api/siem/cases/${id}/evidence`, {
    as: 'editor',
    body: { name: 'line.txt', mediaType: 'text/plain', content: content.toString('base64') },
  });
  t.is(attached.status, 200);
  t.is(attached.body.sha256, sha256);
  t.true(attached.body.isIntact);

  const recorded = await harness.request('GET', '/api/audit?action=security-case-evidence.attach', { as: 'owner' });
  t.true(recorded.body.items.some(({ resource }: { resource: { id: string } }) => resource.id.startsWith(sha256)));
  const verify = async () => (await harness.request('GET', '/api/evidence/verify', { as: 'owner' })).body;
  t.true((await verify()).valid);

  const stored = harness.documents.forTenant('a').collection(caseEvidence);
  await stored.update(attached.body.id, { content: Buffer.from('another line\n').toString('base64') });
  const { body } = await harness.request('GET', `/api/siem/cases/${id}`, { as: 'viewer' });
  t.false(body.evidence[0].isIntact);
  t.is((await verify()).firstBreak.kind, 'evidence-edited');
  await stored.delete(attached.body.id);
  t.is((await verify()).firstBreak.kind, 'evidence-removed');
});

test('evidence that is too large is refused with its size, and evidence cannot be changed or removed', async (t) => {
  const id = await open('large');
  const large = await harness.request('POST', `/api/siem/cases/${id}/evidence`, {
    as: 'editor',
    body: { name: 'large', content: Buffer.alloc(2_000_001).toString('base64') },
  });
  t.is(large.status, 413);
  t.regex(large.body.message, /2000001/);
  for (const method of ['PUT', 'PATCH', 'DELETE'])
    t.is((await harness.request(method, `/api/siem/cases/${id}/evidence`, { as: 'editor', body: {} })).status, 405);
});

test('an organization without the entitlement has no cases', async (t) => {
  const token = await harness.signIn('owner@b.example');
  const { status, body } = await harness.request('GET', '/api/siem/cases', { as: `token ${token}` });
  t.is(status, 403);
  t.is(body.error, 'UPGRADE_REQUIRED');
});
