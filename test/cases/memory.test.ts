import { once } from 'node:events';
import { MessageChannel } from 'node:worker_threads';
import test from 'ava';
import { TransferMemoryPool, transferableBuffers } from '../../runtime/memory.ts';

const piece = 100_000;

test('a returned buffer is handed out again', (t) => {
  const memory = new TransferMemoryPool();
  const first = memory.allocate(piece);
  memory.reuse(first);
  t.is(memory.allocate(piece - 1), first);
  t.not(memory.allocate(piece), first);
});

test('the smallest sufficient buffer is handed out', (t) => {
  const memory = new TransferMemoryPool();
  const large = memory.allocate(8 * piece);
  const small = memory.allocate(piece);
  const middling = memory.allocate(3 * piece);
  for (const one of [large, small, middling]) memory.reuse(one);
  t.is(memory.allocate(piece), small);
  t.is(memory.allocate(piece), middling);
  t.is(memory.allocate(piece), large);
});

test('only a few buffers are shared regardless of concurrent demand; the others are transferred and not pooled', (t) => {
  const memory = new TransferMemoryPool();
  const isShared = (one: ArrayBufferLike): boolean => one instanceof SharedArrayBuffer;
  for (let round = 0; round < 3; round++) {
    const pieces = Array.from({ length: 20 }, () => memory.allocate(piece));
    t.true(pieces.every(({ byteLength }) => byteLength >= piece));
    t.is(pieces.filter(isShared).length, 8);
    t.is(transferableBuffers(pieces).length, 12);
    for (const one of pieces) memory.reuse(one);
  }
});

test('buffers that are too small are replaced by larger ones', (t) => {
  const memory = new TransferMemoryPool();
  const pieces = Array.from({ length: 8 }, () => memory.allocate(piece));
  for (const one of pieces) memory.reuse(one);
  const larger = memory.allocate(10 * piece);
  t.true(larger instanceof SharedArrayBuffer);
  memory.reuse(larger);
  t.is(memory.allocate(10 * piece), larger);
});

test('a buffer too large for the pool is transferred', (t) => {
  t.true(new TransferMemoryPool().allocate(64 * 1024 * 1024 + 1) instanceof ArrayBuffer);
});

test('data passed between threads is transferred, and small buffers with shared memory are copied', async (t) => {
  const own = new ArrayBuffer(100);
  const [one, other] = [Buffer.from('one'), Buffer.from('other')];
  const { port1, port2 } = new MessageChannel();
  t.teardown(() => port1.close());
  const moved = transferableBuffers([own, own, new SharedArrayBuffer(8), one.buffer, other.buffer]);
  t.deepEqual(moved, [own]);
  port1.postMessage({ own, one, other }, moved);
  const [received] = await once(port2, 'message');
  t.is(own.byteLength, 0);
  t.is(Buffer.from(received.one).toString(), 'one');
});
