/** Security signals through the API: listed, filtered, triaged, and limited to one organization. */
import test from 'ava';
import { type Harness, startHarness } from './api-harness.ts';

let harness: Harness;
const nowMs = Math.floor(Date.now() / 1000) * 1000;

interface Made {
  readonly id: string;
  readonly agoSeconds: number;
  readonly tenant?: string;
  readonly severity?: string;
  readonly suppressedBy?: string;
  readonly times?: number;
  readonly eventCount?: number;
  readonly rule?: string;
}

const land = ({
  id,
  agoSeconds,
  tenant = 'a',
  severity = 'high',
  suppressedBy = '',
  times = 1,
  eventCount = 1,
  rule = 'whoami',
}: Made): Promise<void> => {
  const events = JSON.stringify([
    {
      recordId: `${id}-record`,
      timeMs: nowMs,
      service: 'agent',
      ruleId: 'whoami',
      fields: [
        { field: 'Image', path: 'Image', value: 'whoami.exe', selection: 'selection', because: "'\\\\whoami.exe'" },
      ],
    },
  ])
    .replaceAll('\\', '\\\\')
    .replaceAll("'", "\\'");
  return harness.columns.execute(
    `INSERT INTO signals (tenant_id, project_id, received_at, partition, offset, id, kind, time, rule_id, rule_version, rule_title, severity, risk_score, events, event_count, entities, tactics, techniques, group_by, suppressed_by)
    SELECT '${tenant}', 'default', now64(3), 0, ${agoSeconds} * 10 + number, '${id}', 'rule', fromUnixTimestamp64Milli(toInt64(${nowMs - agoSeconds * 1000})), '${rule}', 3, 'Who am I', '${severity}', 75, '${events}', ${eventCount}, ['user ann smith', 'host web-1'], ['discovery'], ['T1033'], map(), '${suppressedBy}' FROM numbers(${times})`,
  );
};

test.before(async () => {
  harness = await startHarness();
  await land({ id: 's1', agoSeconds: 10, times: 2 });
  await land({ id: 's2', agoSeconds: 20, severity: 'low' });
  await land({ id: 's3', agoSeconds: 30, suppressedBy: 'exception-1' });
  await land({ id: 's4', agoSeconds: 20, severity: 'critical' });
  await land({ id: 'of-b', agoSeconds: 5, tenant: 'b' });
});
test.after.always(() => harness.close());

const list = async (query = ''): Promise<{ items: { id: string }[]; nextCursor: string | null }> => {
  const { status, body } = await harness.request('GET', `/api/siem/signals?${query}`, { as: 'viewer' });
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body;
};
const ids = async (query?: string): Promise<string[]> => (await list(query)).items.map(({ id }) => id);
const triage = (id: string, body: object) =>
  harness.request('PATCH', `/api/siem/signals/${id}`, { as: 'editor', body });

test.serial('signals are listed newest first, each once, without those covered by an exception', async (t) => {
  t.deepEqual(await ids(), ['s1', 's4', 's2']);
  t.deepEqual(await ids('suppressed=true'), ['s1', 's4', 's2', 's3']);
});

test.serial('pages neither skip nor repeat a signal, even among signals of the same time', async (t) => {
  const seen: string[] = [];
  let cursor = '';
  for (let page = 0; page < 10; page++) {
    const { items, nextCursor } = await list(`limit=1${cursor}`);
    seen.push(...items.map(({ id }) => id));
    if (nextCursor === null) break;
    cursor = `&cursor=${nextCursor}`;
  }
  t.deepEqual(seen, ['s1', 's4', 's2']);
});

test.serial('signals are filtered by severity, entity, technique and rule', async (t) => {
  t.deepEqual(await ids('severity=low,critical'), ['s4', 's2']);
  t.deepEqual(await ids('entity=user%20ann%20smith&technique=t1033'), ['s1', 's4', 's2']);
  t.deepEqual(await ids('entity=user%20ann'), []);
  t.deepEqual(await ids('ruleId=other'), []);
});

test.serial('a signal shows its entities, and which fields matched and why', async (t) => {
  const { body } = await harness.request('GET', '/api/siem/signals/s1', { as: 'viewer' });
  t.deepEqual(body.entities, [
    { type: 'user', value: 'ann smith' },
    { type: 'host', value: 'web-1' },
  ]);
  t.is(body.events[0].fields[0].condition, "'\\\\whoami.exe'");
  t.deepEqual([body.state, body.suppressedBy, body.ruleVersion], ['open', null, 3]);
});

test.serial('a signal is acknowledged, closed with a verdict and reopened; lists reflect this', async (t) => {
  t.is((await triage('s1', { state: 'acknowledged' })).body.state, 'acknowledged');
  t.deepEqual(await ids('state=open'), ['s4', 's2']);
  t.deepEqual(await ids('state=acknowledged'), ['s1']);
  const early = await triage('s1', { verdict: 'false-positive' });
  t.is(early.status, 400);
  t.is(early.body.details[0].path, 'verdict');
  const closed = await triage('s1', { state: 'closed', verdict: 'false-positive', reason: 'a drill' });
  t.deepEqual([closed.body.verdict, closed.body.reason], ['false-positive', 'a drill']);
  const reopened = await triage('s1', { state: 'open' });
  t.is(reopened.body.verdict, null);
  t.deepEqual(await ids('state=open'), ['s1', 's4', 's2']);
});

test.serial('signals are in the event feed, each once, page by page', async (t) => {
  const seen: { id: string; severity: string; tags: object; service: string }[] = [];
  let cursor = '';
  for (let page = 0; page < 10; page++) {
    const { body } = await harness.request('GET', `/api/events?kinds=signal&limit=1${cursor}`, { as: 'viewer' });
    seen.push(...body.items);
    if (body.nextCursor === null) break;
    cursor = `&cursor=${body.nextCursor}`;
  }
  t.deepEqual(
    seen.map(({ id, severity }) => [id, severity]),
    [
      ['s1', 'error'],
      ['s4', 'critical'],
      ['s2', 'info'],
    ],
  );
  t.deepEqual(seen[0]?.tags, {
    ruleId: 'whoami',
    severity: 'high',
    tactic: 'discovery',
    user: 'ann smith',
    host: 'web-1',
  });
  t.is(seen[0]?.service, 'agent');
  const of = async (service: string): Promise<number> =>
    (await harness.request('GET', `/api/events?kinds=signal&service=${service}`, { as: 'viewer' })).body.items.length;
  t.deepEqual([await of('agent'), await of('other')], [3, 0]);
});

test.serial('the risk of an entity is the sum of its signals, each halved with every half-life', async (t) => {
  for (const [id, days, by] of [
    ['old-1', 1, ''],
    ['old-2', 2, ''],
    ['old-3', 2, 'exception-1'],
  ] as const)
    await land({ id, agoSeconds: days * 86_400, suppressedBy: by });
  await land({ id: 'wrong', agoSeconds: 60 });
  await triage('wrong', { state: 'closed', verdict: 'false-positive' });
  const path = '/api/siem/entities';
  const one = await harness.request('GET', `${path}/user/ann%20smith`, { as: 'viewer' });
  t.is(one.status, 200, JSON.stringify(one.body));
  const shares: { signalId: string; share: number; riskScore: number; time: string }[] = one.body.shares;
  t.deepEqual(shares.map(({ signalId }) => signalId).toSorted(), ['old-1', 'old-2', 's1', 's2', 's4']);
  for (const { share, riskScore, time } of shares) {
    const hours = (Date.parse(one.body.asOf) - Date.parse(time)) / 3_600_000;
    t.true(Math.abs(share - riskScore * 0.5 ** (hours / 24)) < 0.001);
  }
  t.true(Math.abs(one.body.score - shares.reduce((sum, { share }) => sum + share, 0)) < 0.01);
  const shorter = await harness.request('GET', `${path}/user/ann%20smith?halfLifeHours=1`, { as: 'viewer' });
  t.true(shorter.body.score < one.body.score);
  const seen: string[] = [];
  let cursor = '';
  for (let page = 0; page < 5; page++) {
    const { body } = await harness.request('GET', `${path}?limit=1${cursor}`, { as: 'viewer' });
    seen.push(...body.items.map(({ type, value }: { type: string; value: string }) => `${type} ${value}`));
    if (body.nextCursor === null) break;
    cursor = `&cursor=${body.nextCursor}`;
  }
  t.deepEqual(seen, ['host web-1', 'user ann smith']);
  const hosts = await harness.request('GET', `${path}?type=host`, { as: 'viewer' });
  t.deepEqual(
    hosts.body.items.map(({ value }: { value: string }) => value),
    ['web-1'],
  );
  t.is((await harness.request('GET', `${path}/user/bob`, { as: 'viewer' })).status, 404);
});

test.serial('signals of another organization are not found', async (t) => {
  t.is((await harness.request('GET', '/api/siem/signals/of-b', { as: 'viewer' })).status, 404);
  t.is((await triage('of-b', { state: 'closed' })).status, 404);
  t.false((await ids('suppressed=true')).includes('of-b'));
});

test.serial('a signal that suppressed others states how many, and so does its rule', async (t) => {
  const source = 'title: Twice\nlogsource: { category: x }\ndetection:\n  s: { CommandLine: nc }\n  condition: s\n';
  const as = 'editor';
  const { body: hiding } = await harness.request('POST', '/api/siem/rules', {
    as,
    body: { source, suppression: { by: ['User'], forSeconds: 60 } },
  });
  const { body: plain } = await harness.request('POST', '/api/siem/rules', { as, body: { source } });
  const tenant = 'a';
  const of = { tenant, rule: hiding.id as string };
  for (const eventCount of [1, 2, 6]) await land({ ...of, id: 'hides-5', agoSeconds: 7200, eventCount });
  await land({ ...of, id: 'hides-1', agoSeconds: 7300, eventCount: 2 });
  await land({ ...of, id: 'long-ago', agoSeconds: 60 * 86_400, eventCount: 9 });
  const { items } = (await list(`ruleId=${hiding.id}&from=now-1d`)) as unknown as { items: Record<string, unknown>[] };
  t.deepEqual(
    items.map(({ id, eventCount, hidden }) => [id, eventCount, hidden]),
    [
      ['hides-5', 6, 5],
      ['hides-1', 2, 1],
    ],
  );
  t.is((await harness.request('GET', '/api/siem/signals/hides-5', { as })).body.hidden, 5);
  t.is((await harness.request('GET', `/api/siem/rules/${hiding.id}`, { as })).body.hidden, 6);
  t.is((await harness.request('GET', `/api/siem/rules/${plain.id}`, { as })).body.hidden, null);
});
