/** Each member that runs detections evaluates a deployed or changed rule in its new version. On Kafka and MongoDB. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { startProcessors } from '../../processors/index.ts';
import { systemClock } from '../../schemas/ports/clock.ts';
import type { Documents } from '../../schemas/ports/documents.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { silentMetrics } from '../../schemas/ports/metrics.ts';
import { detectionFields, detectionPlaceholders, detectionRules } from '../../schemas/resources/detection-rule.ts';
import { organizations, organizationsTenant } from '../../schemas/resources/organization.ts';
import { plans, plansTenant } from '../../schemas/resources/plan.ts';
import { processorStateChunks, processorStates } from '../../schemas/resources/processor-state.ts';
import type { DetectionSignal } from '../../schemas/signals.ts';
import { topics } from '../../schemas/topics.ts';
import { deployedRule } from '../cases/detection-rules.ts';
import { otlpMessage } from '../cases/run-task.ts';
import { startServices, unavailable } from '../services/services.ts';
import { eventually } from '../waiting.ts';
import { openStores, partitions } from './processors-stores.ts';

const tenantId = 'acme';
const source = (word: string): string =>
  `title: r\nname: r\nlogsource: { category: application }\ndetection:\n  words: { body|contains: ${word} }\n  condition: words\n`;

const organizationIn = async (documents: Documents): Promise<void> => {
  await documents.ensureCollections([
    ...[processorStates, processorStateChunks, plans, organizations],
    ...[detectionRules, detectionFields, detectionPlaceholders],
  ]);
  const limits = { requestsPerSecond: 1, requestsBurst: 1, requestsPerMinute: 1, bytesPerDay: null };
  const retentionDays = { logs: 1, metrics: 1, traces: 1 };
  const plan = { id: 'all', name: 'all', retentionDays, entitlements: ['logs'], limits };
  await documents.forTenant(plansTenant).collection(plans).insert(plan);
  const organization = { id: tenantId, name: tenantId, planId: 'all', disabled: false, retentionDays: {}, shards: 1 };
  await documents.forTenant(organizationsTenant).collection(organizations).insert(organization);
};

const reason = unavailable('kafka') ?? unavailable('mongodb');
const run = reason === undefined ? test : test.skip;

run('a rule is live on both members in the version that was deployed', async (t) => {
  const services = await startServices(['kafka', 'mongodb']);
  const place = {
    kind: 'cluster' as const,
    brokers: services.url('kafka'),
    prefix: `members-${randomUUID()}.`,
    mongodb: services.url('mongodb').replace('/?', `/oiq-members-${process.pid}-${Date.now()}?`),
  };
  const { bus, documents } = await openStores(place);
  await organizationIn(documents);
  const emitted = [topics.signals, topics.detectionMatches, topics.chainedMatches, topics.events];
  await bus.ensureTopics([topics.logs, topics.deadLetter, topics.detectionTelemetry, ...emitted]);
  const members = await Promise.all(
    [1, 2].map(async () => {
      const own = await openStores(place);
      const role = await startProcessors({
        ...own,
        metrics: silentMetrics,
        log: silentLog,
        clock: systemClock,
        only: ['detections'],
        pool: { threads: 1 },
      });
      return { ...own, role };
    }),
  );
  const producer = await bus.producer();
  t.teardown(async () => {
    await producer.close();
    for (const member of members) {
      await member.role.stop();
      await member.bus.close();
      await member.documents.close();
    }
    await bus.close();
    await documents.close();
  });

  let sent = 0;
  const send = async (body: string): Promise<void> => {
    const timeUnixNano = `${BigInt(systemClock.now()) * 1_000_000n + BigInt(++sent)}`;
    const request = {
      resourceLogs: [{ scopeLogs: [{ logRecords: [{ timeUnixNano, body: { stringValue: body } }] }] }],
    };
    const message = otlpMessage('logs', request, { tenantId, atMs: systemClock.now() });
    // Enough keys for both partitions to get some.
    for (let shard = 0; shard < 8; shard++)
      await producer.publish([{ topic: topics.logs.name, key: `${tenantId}/${shard}`, ...message }]);
  };
  const signals = async (): Promise<DetectionSignal[]> => {
    const found: DetectionSignal[] = [];
    for (const { partition, earliest, end } of await bus.offsets(topics.signals.name))
      for await (const { value } of bus.read(topics.signals.name, partition, earliest, end))
        found.push(...(JSON.parse(Buffer.from(value).toString()) as DetectionSignal[]));
    return found;
  };
  /** Partitions of the logs in which a version of the rule matched. */
  const partitionsOf = async (version: number): Promise<Set<string | undefined>> =>
    new Set(
      (await signals())
        .filter(({ ruleVersion }) => ruleVersion === version)
        .map(({ events }) => events[0]?.recordId.split('-')[1]),
    );
  const isLive = async (version: number, body: string): Promise<void> => {
    const since = Date.now();
    await eventually(`version ${version} on both members`, async () => {
      await send(body);
      await sleep(100);
      return (await partitionsOf(version)).size === partitions;
    });
    t.log(`version ${version} was live after ${Date.now() - since} ms`);
  };

  const rules = documents.forTenant(tenantId).collection(detectionRules);
  const { id, ...first } = deployedRule(source('alpha'));
  await rules.insert({ id, ...first });
  await isLive(1, 'alpha');
  await rules.replace(id, { ...first, source: source('beta') }, 1);
  await isLive(2, 'beta');
  const before = (await signals()).length;
  await send('alpha');
  await send('beta');
  await eventually('the signals of what was sent last', async () => (await signals()).length >= before + 8);
  const all = await signals();
  const last = all.filter(({ ruleVersion }) => ruleVersion === 2);
  t.true(last.every(({ events }) => events.every(({ fields }) => fields.every(({ value }) => value !== 'alpha'))));
  t.is(new Set(all.map(({ id: signal }) => signal)).size, all.length);
});
