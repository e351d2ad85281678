/** The order in which pending deliveries are attempted. */
import test from 'ava';
import { DeliveryQueue, type QueuedDelivery } from '../../processors/deliveries/queue.ts';

const waiting = (id: string, lane: string, second: number, dueMs = 0): QueuedDelivery => ({
  key: `acme/${id}`,
  tenantId: 'acme',
  id,
  lane,
  destination: 'acme/mail',
  dueMs,
  queuedAt: new Date(Date.UTC(2026, 0, 1) + 1000 * second).toISOString(),
});

const due = (queue: DeliveryQueue, nowMs = 0): string[] => [...queue.due(nowMs)].map(({ id }) => id);

test('the first delivery of each lane is tried, the oldest first, regardless of arrival order', (t) => {
  const queue = new DeliveryQueue();
  for (const one of [
    waiting('d', 'two', 4),
    waiting('b', 'one', 2),
    waiting('c', 'two', 3),
    waiting('a', 'one', 1),
    waiting('e', 'three', 0, 10),
  ])
    queue.set(one);
  t.deepEqual(due(queue), ['a', 'c']);
  t.deepEqual(due(queue, 10), ['e', 'a', 'c']);
  queue.delete('acme/a');
  t.deepEqual(due(queue), ['b', 'c']);
  queue.delete('acme/d');
  queue.delete('acme/c');
  t.deepEqual(due(queue), ['b']);
  queue.set(waiting('b', 'one', 2, 20));
  t.deepEqual(due(queue), []);
  queue.delete('acme/missing');
  t.is(queue.size, 2);
});

test('a lane with many deliveries is filled and emptied in order', (t) => {
  const queue = new DeliveryQueue();
  const count = 20_000;
  for (let at = 0; at < count; at++) queue.set(waiting(`w${at}`, 'one', at ^ 1));
  for (let at = 0; at < count; at++) {
    const [first] = queue.due(0);
    if (first?.id !== `w${at ^ 1}`) return t.fail(`${first?.id} instead of w${at ^ 1}`);
    queue.delete(first.key);
  }
  t.is(queue.size, 0);
});
