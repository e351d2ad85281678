/** A hunt over stored logs finds what the stream would have found, and omits what the stream has already reported. */
import test from 'ava';
import { threatMatches } from '../../processors/threat-intel/threat-matches.ts';
import { indicatorBlocks } from '../../schemas/resources/threat-intel.ts';
import { ThreatMatch } from '../../schemas/threat-matches.ts';
import { topics } from '../../schemas/topics.ts';
import { type BlockIndicator, encodeBlock } from '../../subjects/threat-intel/block.ts';
import { huntIndicators } from '../../subjects/threat-intel/hunt.ts';
import { type Random, seeded } from './random.ts';
import { firstMs, otlpMessage, TaskRun } from './run-task.ts';
import { openTables, text } from './sink-tables.ts';

const held = (['203.0.113.7', '2001:db8::7'] as const).map(
  (value): BlockIndicator => ({
    type: 'ip',
    value,
    source: 'feed',
    confidence: 80,
    validFrom: null,
    validUntil: null,
    isRevoked: false,
    seenAt: new Date(firstMs).toISOString(),
    halfLifeDays: null,
    raisesSignals: false,
  }),
);
const bodies = [
  'all is well',
  'Failed password for root from 203.0.113.7 port 22',
  '{"destination":{"ip":"2001:db8::7"},"user":{"name":"ann"}}',
  '{"destination":{"ip":"192.0.2.1"}}',
];
const messagesOf = (random: Random, count: number) => {
  let atMs = firstMs;
  return Array.from({ length: count }, (_, offset) => {
    atMs += 1 + random(120_000);
    const record = {
      timeUnixNano: `${BigInt(atMs) * 1_000_000n}`,
      body: { stringValue: bodies[random(bodies.length)] },
      attributes: random(4) === 0 ? [text('client.address', '203.0.113.7:443')] : [],
    };
    const resource = { attributes: [text('service.name', 'sshd'), text('host.name', `web-${random(2)}`)] };
    const request = { resourceLogs: [{ resource, scopeLogs: [{ logRecords: [record] }] }] };
    return { ...otlpMessage('logs', request, { atMs }), offset, timestampMs: atMs };
  });
};

test.serial('a hunt finds the same matches as the stream, and omits those already reported', async (t) => {
  const tables = await openTables();
  t.teardown(() => tables.close());
  const messages = messagesOf(seeded(9), 200);
  await tables.land(messages);
  const stream = new TaskRun(threatMatches);
  const at = new Date(firstMs).toISOString();
  stream.task.applyChange(indicatorBlocks.name, 'acme', 'b', {
    ...encodeBlock(held),
    id: 'b',
    version: 1,
    createdAt: at,
    updatedAt: at,
  });
  for (const message of messages) stream.message(message);
  const lastMs = messages.at(-1)?.timestampMs ?? 0;
  stream.tick(lastMs + 7_200_000);

  const plan = { name: 'all', entitlements: ['logs', 'siem'], retentionDays: { logs: 30, metrics: 30, traces: 30 } };
  const reader = { columns: tables.columns.forTenant('acme'), nowMs: lastMs, plan };
  const hunt = () =>
    huntIndicators(
      { ...encodeBlock(held), fromMs: firstMs, toMs: lastMs },
      { reader, tenantId: 'acme' },
      { isTimeUp: () => false },
    );
  const { matches, records, isComplete } = await hunt();
  t.deepEqual([records, isComplete], [200, true]);

  const latest = new Map(stream.emitted<ThreatMatch>(topics.threatMatches).map((match) => [match.id, match]));
  const plain = (each: Iterable<ThreatMatch>): string[] =>
    [...each].map((match) => JSON.stringify({ ...ThreatMatch.parse(match), retroHunt: true })).sort();
  t.true(latest.size > 4);
  t.deepEqual(plain(matches), plain(latest.values()));
  t.true(matches.every(({ retroHunt }) => retroHunt));

  const [threatMatch] = [...latest.values()].toSorted((one, other) => other.count - one.count);
  if (threatMatch === undefined) throw new Error('there are some');
  const iso = (ms: number): string => `toDateTime64('${new Date(ms).toISOString().slice(0, -1)}', 3, 'UTC')`;
  const { id, type, value, source, score, field, observed, recordId, count, service, host, user, projectId } =
    threatMatch;
  await tables.columns.execute(
    `INSERT INTO threat_matches (tenant_id, project_id, received_at, id, type, value, source, score, field, observed, record_id, time, last_time, count, service, host, user) VALUES
      ('acme', '${projectId}', now64(3), '${id}', '${type}', '${value}', '${source}', ${score}, '${field}', '${observed}', '${recordId}', ${iso(threatMatch.timeMs)}, ${iso(threatMatch.lastMs)}, ${count}, '${service}', '${host}', '${user}')`,
  );
  const again = await hunt();
  t.is(again.matches.length, matches.length - 1);
  t.false(again.matches.some((match) => match.id === id));
});

test.serial('a hunt yields to the event loop, and ends between two records', async (t) => {
  const tables = await openTables();
  t.teardown(() => tables.close());
  const messages = messagesOf(seeded(3), 20);
  await tables.land(messages);
  const lastMs = messages.at(-1)?.timestampMs ?? 0;
  const plan = { name: 'all', entitlements: ['logs', 'siem'], retentionDays: { logs: 30, metrics: 30, traces: 30 } };
  const reader = { columns: tables.columns.forTenant('acme'), nowMs: lastMs, plan };
  const hunt = { ...encodeBlock(held), fromMs: firstMs, toMs: lastMs };
  let [loopIterations, overChecks] = [0, 0];
  const isTimeUp = (): boolean => {
    setImmediate(() => loopIterations++);
    return ++overChecks === 4;
  };
  const found = await huntIndicators(hunt, { reader, tenantId: 'acme' }, { isTimeUp, timeSliceMs: 0 });
  t.deepEqual([found.records, found.isComplete, loopIterations], [4, false, 3]);
});
