import test from 'ava';
import { createErrorResponse } from '../../receivers/engine/error-responses.ts';
import { Rejections } from '../../receivers/engine/rejections.ts';
import { UnavailableError } from '../../schemas/errors.ts';
import type { Message, Producer } from '../../schemas/ports/bus.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { topics, UsageReport } from '../../schemas/topics.ts';

const setUp = () => {
  const published: Message[] = [];
  const state = { broken: false };
  const publish = async (messages: readonly Message[]): Promise<void> => {
    published.push(...messages);
    if (state.broken) throw new UnavailableError('nobody knows whether the bus has it');
  };
  const producer: Producer = { publish, transaction: async (_name, work) => work(publish), close: async () => {} };
  const clock = { at: Date.parse('2026-03-01T10:30:00Z'), now: () => clock.at };
  const rejections = new Rejections(producer, clock, silentLog);
  const reports = () => published.map(({ value }) => UsageReport.parse(JSON.parse(Buffer.from(value).toString())));
  return { clock, published, reports, rejections, state };
};
const caller = { tenantId: 'acme', projectId: 'shop', keyId: 'k1' };
const limited = createErrorResponse('rate-limited', 'too many', 1);
const overQuota = { ...limited, reason: 'quota' };

test('rejections with the same key, signal, reason and hour form one row', async (t) => {
  const { rejections, reports, clock, published } = setUp();
  for (let index = 0; index < 1_000; index++) rejections.count(caller, 'logs', limited);
  rejections.count(caller, 'logs', overQuota, 5, 500);
  rejections.count(caller, 'logs', overQuota, 6, 600);
  clock.at += 3_600_000;
  rejections.count(caller, 'traces', limited);
  await rejections.close();
  const row = { ...caller, signal: 'logs', hour: Date.parse('2026-03-01T10:00:00Z') / 3_600_000 };
  t.deepEqual(
    reports().map(({ rows }) => rows),
    [
      [
        { ...row, reason: 'rate-limited', requests: 1_000, records: 0, bytes: 0 },
        { ...row, reason: 'quota', requests: 2, records: 11, bytes: 1_100 },
        { ...row, reason: 'rate-limited', signal: 'traces', hour: row.hour + 1, requests: 1, records: 0, bytes: 0 },
      ],
    ],
  );
  t.is(published[0]?.topic, topics.usage.name);
});

test('a report that may have been published is published again unchanged, and newer rejections separately', async (t) => {
  const { rejections, reports, state } = setUp();
  rejections.count(caller, 'logs', limited);
  state.broken = true;
  await rejections.flush();
  rejections.count(caller, 'logs', limited);
  state.broken = false;
  await rejections.flush();
  await rejections.close();
  const [first, second, third] = reports();
  t.deepEqual(first, second);
  t.not(third?.id, first?.id);
  t.is(third?.rows[0]?.requests, 1);
  t.is(reports().length, 3);
});

test('nothing is published if nothing was rejected', async (t) => {
  const { rejections, reports } = setUp();
  await rejections.flush();
  await rejections.close();
  t.deepEqual(reports(), []);
});

test('many keys are split into several messages below the size limit of the topic', async (t) => {
  const { rejections, published, reports } = setUp();
  for (let index = 0; index < 5_000; index++)
    rejections.count({ ...caller, keyId: `key-${index}`.padEnd(36, 'x') }, 'logs', overQuota, 1, 1);
  await rejections.close();
  t.is(reports().flatMap(({ rows }) => rows).length, 5_000);
  t.true(published.every(({ value }) => value.length < topics.usage.maxMessageBytes));
  t.true(published.length > 1);
});
