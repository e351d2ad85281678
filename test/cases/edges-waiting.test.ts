/** Pending ends of calls, which wait for each other. */
import test from 'ava';
import { type PairingHandlers, PendingCalls } from '../../processors/edges/pending-calls.ts';
import type { CallEnd } from '../../schemas/edges.ts';

const nowMs = Date.UTC(2026, 2, 1, 10);
const endOf = (caller: string, { callee, atMs = nowMs }: { callee?: string; atMs?: number } = {}): CallEnd => ({
  tenantId: 'acme',
  projectId: 'shop',
  traceId: 't',
  callerId: caller,
  isMessage: false,
  environment: '',
  service: callee ?? caller,
  startMs: atMs,
  durationNs: 0,
  failed: false,
  ...(callee !== undefined && { calleeId: callee }),
});

/** A store of pending ends, and its outcomes in words. */
const waitingOf = (max?: number) => {
  const waiting = new PendingCalls(60_000, undefined, max);
  const events: string[] = [];
  const outcomes: PairingHandlers = {
    pair: (caller, callee) => events.push(`${caller.service} → ${callee.service}`),
    unpaired: ({ service }, isCaller, reason) => events.push(`${isCaller ? 'client' : 'server'} ${service} ${reason}`),
  };
  const add = (end: CallEnd, watermarkMs = nowMs - 60_000, clockMs = nowMs) =>
    waiting.add(end, { clockMs, watermarkMs }, outcomes);
  return { waiting, events, outcomes, add };
};

test('a client and a server are paired in any arrival order, and a client is paired with each of its servers', (t) => {
  const { events, add } = waitingOf();
  add(endOf('a', { callee: 'b' }));
  add(endOf('a'));
  add(endOf('a', { callee: 'c' }));
  t.deepEqual(events, ['a → b', 'a → c']);
});

test('a span that arrives twice counts once', (t) => {
  const { events, add } = waitingOf();
  const responses = [
    endOf('a', { callee: 'b' }),
    endOf('a', { callee: 'b' }),
    endOf('a'),
    endOf('a'),
    endOf('a', { callee: 'b' }),
  ];
  t.deepEqual(
    responses.map((end) => add(end).isNew),
    [true, false, true, false, false],
  );
  t.deepEqual(events, ['a → b']);
});

test('an end expires once the watermark is a minute past it, or later if its other side ended later', (t) => {
  const { waiting, events, outcomes, add } = waitingOf();
  const { due } = add(endOf('a'));
  t.is(due, nowMs / 1000 + 60);
  add(endOf('b', { callee: 's' }));
  add(endOf('b', { callee: 's2', atMs: nowMs + 30_000 }), undefined, nowMs + 30_000);
  const again = waiting.expire(nowMs / 1000 + 60, outcomes);
  t.deepEqual(events, ['client a expired']);
  t.deepEqual(again, [nowMs / 1000 + 90]);
  waiting.expire(nowMs / 1000 + 90, outcomes);
  t.deepEqual(events.slice(1), ['server s expired', 'server s2 expired']);
  t.is(waiting.entries, 0);
  t.is(waiting.bytes, 0);
});

test('an end behind the watermark is counted as late', (t) => {
  const { waiting, events, outcomes, add } = waitingOf();
  const { due } = add(endOf('a', { atMs: nowMs - 200_000 }));
  waiting.expire(due ?? 0, outcomes);
  t.deepEqual(events, ['client a late']);
});

test('a clock that is years ahead does not make ends wait for years', (t) => {
  const { add } = waitingOf();
  t.is(add(endOf('a', { atMs: nowMs + 1e11 })).due, nowMs / 1000 + 65);
});

test('above the memory limit the oldest ends are evicted, and counted as evicted', (t) => {
  const { waiting, events, add } = waitingOf(1_500);
  add(endOf('paired', { callee: 'b' }));
  add(endOf('paired'));
  for (const each of ['a', 'b', 'c', 'd']) add(endOf(each));
  t.deepEqual(events, ['paired → b', 'client a evicted']);
  t.is(waiting.evicted, 2);
  t.is(waiting.entries, 3);
});

test('a saved state is restored and continues without a difference', (t) => {
  const { waiting, outcomes, add } = waitingOf();
  for (const each of ['a', 'b', 'c'])
    add(endOf(each, { atMs: nowMs + each.charCodeAt(0) * 700 }), undefined, nowMs + 1e6);
  add(endOf('a', { callee: 's' }));
  add(endOf('q', { callee: 's' }));
  const saved = JSON.stringify(waiting.save());
  const again = new PendingCalls(60_000, JSON.parse(saved));
  t.is(JSON.stringify(again.save()), saved);
  t.is(again.bytes, waiting.bytes);
  for (let second = nowMs / 1000; second < nowMs / 1000 + 300; second++)
    t.deepEqual(again.expire(second, outcomes), waiting.expire(second, outcomes));
  t.is(again.entries, 0);
});

test('a thousand servers of one client are remembered, and further servers are still paired', (t) => {
  const { waiting, events, add } = waitingOf();
  add(endOf('a'));
  for (let index = 0; index < 1_500; index++) add(endOf('a', { callee: `s${index}` }));
  t.is(events.length, 1_500);
  t.true(waiting.bytes < 200_000);
});
