/** The live tail in the page: what is shown, paused, counted as missed, and read after a disconnect. */
import './browser.ts';

import test from 'ava';
import { LiveTail, type TailedRecord } from '../../../web/client/live-tail.ts';
import { eventually } from '../../waiting.ts';

const sockets: FakeSocket[] = [];
class FakeSocket extends EventTarget {
  readonly address: URL;
  isClosed = false;

  constructor(address: URL) {
    super();
    this.address = address;
    sockets.push(this);
  }

  close(): void {
    this.isClosed = true;
  }

  open(): void {
    this.dispatchEvent(new Event('open'));
  }

  send(position: string, ids: readonly number[], missed: object = {}): void {
    const frame = { type: 'records', position, dropped: 0, skipped: 0, gap: false, records: ids.map((id) => ({ id })) };
    this.dispatchEvent(new MessageEvent('message', { data: JSON.stringify({ ...frame, ...missed }) }));
  }

  breakWith(reason: string): void {
    this.dispatchEvent(Object.assign(new Event('close'), { reason }));
  }
}
Object.defineProperty(globalThis, 'WebSocket', { value: FakeSocket, configurable: true });

const lastSocket = (): FakeSocket => {
  const socket = sockets.at(-1);
  if (socket === undefined) throw new Error('no socket was opened');
  return socket;
};
const idsOf = (records: readonly TailedRecord[]): unknown[] => records.map(({ id }) => id);

const openTail = (): LiveTail => {
  const tail = new LiveTail();
  tail.open({ search: 'a' });
  lastSocket().open();
  return tail;
};

test.serial('a live tail starts with the last records and shows new ones first', async (t) => {
  const tail = openTail();
  const { address } = lastSocket();
  t.is(address.href, 'wss://oiq.example/ws/live-tail?search=a&last=200');
  t.is(tail.state.value.status, 'live');
  lastSocket().send('1', [1, 2]);
  lastSocket().send('2', [3]);
  await eventually('the records', () => tail.records.value.length > 0);
  t.deepEqual(idsOf(tail.records.value), [3, 2, 1]);
  t.is(tail.receivedCount.value, 3);
  tail.close();
  t.true(lastSocket().isClosed);
  t.is(tail.state.value.status, 'over');
});

test.serial('the newest 5,000 records are retained', async (t) => {
  const tail = openTail();
  for (let part = 0; part < 12; part++)
    lastSocket().send(
      String(part),
      Array.from({ length: 1_000 }, (_, index) => part * 1_000 + index),
    );
  await eventually('the records', () => tail.receivedCount.value === 12_000);
  t.is(tail.records.value.length, 5_000);
  t.deepEqual(idsOf(tail.records.value.slice(0, 2)), [11_999, 11_998]);
  tail.close();
});

test.serial('a paused tail counts new records, and shows them when it resumes', async (t) => {
  const tail = openTail();
  lastSocket().send('1', [1]);
  await eventually('the record', () => tail.receivedCount.value === 1);
  tail.pause();
  t.is(tail.state.value.status, 'paused');
  lastSocket().send('2', [2, 3]);
  await eventually('the count', () => tail.pendingCount.value === 2);
  t.deepEqual(idsOf(tail.records.value), [1]);
  tail.resume();
  t.is(tail.state.value.status, 'live');
  t.deepEqual(idsOf(tail.records.value), [3, 2, 1]);
  t.is(tail.pendingCount.value, 0);
  tail.close();
});

test.serial('the numbers of records that the server omitted are summed', async (t) => {
  const tail = openTail();
  lastSocket().send('1', [], { dropped: 2, skipped: 1 });
  lastSocket().send('2', [], { dropped: 3, gap: true });
  lastSocket().send('3', [1]);
  await eventually('the record', () => tail.receivedCount.value === 1);
  t.deepEqual(tail.missed.value, { dropped: 5, skipped: 1, hasGap: true });
  tail.close();
});

test.serial('after a disconnect, the tail resumes after the last record', async (t) => {
  const tail = openTail();
  lastSocket().send('17', [1]);
  const before = sockets.length;
  lastSocket().breakWith('The server stops');
  t.deepEqual(tail.state.value, {
    status: 'waiting',
    reason: 'The server stops. Reconnecting after the last record in 1 s.',
  });
  await eventually('another connection', () => sockets.length > before);
  t.is(lastSocket().address.search, '?search=a&resume=17');
  lastSocket().breakWith('');
  t.is(tail.state.value.reason, 'The connection was closed. Reconnecting after the last record in 2 s.');
  tail.close();
  t.is(tail.state.value.status, 'over');
});
