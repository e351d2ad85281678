import { mock } from 'node:test';
import test from 'ava';
import { BufferPool } from '../../adapters/buffer-pool.ts';
import { collectWhenIdle } from '../../runtime/idle-memory.ts';
import { TransferMemoryPool } from '../../runtime/memory.ts';

const checkMs = 15_000;

test.serial('a thread that becomes idle releases garbage and pooled memory', (t) => {
  mock.timers.enable({ apis: ['setInterval'] });
  let isIdle = false;
  const stop = collectWhenIdle(() => isIdle);
  const bufferPool = new BufferPool();
  const memory = new TransferMemoryPool();
  const pooledBuffer = bufferPool.acquire(2 * 1024 * 1024);
  const piece = memory.allocate(100_000);
  const { buffer } = pooledBuffer.bytes;
  pooledBuffer.release();
  memory.reuse(piece);
  const garbage = new WeakRef(new Array(4_000_000).fill(0.5));

  mock.timers.tick(checkMs);
  t.is(bufferPool.acquire(2 * 1024 * 1024).bytes.buffer, buffer, 'while it is busy, memory is used again');
  t.is(memory.allocate(100_000), piece);
  memory.reuse(piece);

  isIdle = true;
  return new Promise<void>((resolve) => {
    // A WeakRef keeps its target alive until the current iteration of the event loop ends.
    setImmediate(() => {
      mock.timers.tick(checkMs);
      t.is(garbage.deref(), undefined);
      t.not(memory.allocate(100_000), piece);
      stop();
      mock.timers.reset();
      resolve();
    });
  });
});

test('threads share a bounded amount of bus memory, which is not released while it can be reused', (t) => {
  const bufferPool = new BufferPool({ areShared: true });
  const maxBytes = 48 * 1024 * 1024;
  const size = 4 * 1024 * 1024;
  const acquire = (bytes = size) => bufferPool.acquire(bytes);
  const isShared = ({ bytes }: { bytes: Buffer }): boolean => bytes.buffer instanceof SharedArrayBuffer;
  const buffers = Array.from({ length: 2 * (maxBytes / size) }, () => acquire());
  t.is(buffers.filter(isShared).length, maxBytes / size);
  const shared = new Set(buffers.filter(isShared).map(({ bytes }) => bytes.buffer));
  for (const pooledBuffer of buffers) pooledBuffer.release();
  const again = Array.from(shared, () => acquire());
  t.deepEqual(new Set(again.map(({ bytes }) => bytes.buffer)), shared);
  again[0]?.release();
  t.true(isShared(acquire(size / 2)), 'of one that is larger, where no more may be shared');
});
