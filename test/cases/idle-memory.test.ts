import { mock } from 'node:test';
import test from 'ava';
import { Slabs } from '../../adapters/slabs.ts';
import { collectWhenIdle } from '../../runtime/idle-memory.ts';
import { Memory } from '../../runtime/memory.ts';

const checkMs = 15_000;

test.serial('a thread that has become idle lets go of garbage and of memory that is kept to be used again', (t) => {
  mock.timers.enable({ apis: ['setInterval'] });
  let isIdle = false;
  const stop = collectWhenIdle(() => isIdle);
  const slabs = new Slabs();
  const memory = new Memory();
  const slab = slabs.take(2 * 1024 * 1024);
  const piece = memory.take(100_000);
  const { buffer } = slab.bytes;
  slab.release();
  memory.give(piece);
  const garbage = new WeakRef(new Array(4_000_000).fill(0.5));

  mock.timers.tick(checkMs);
  t.is(slabs.take(2 * 1024 * 1024).bytes.buffer, buffer, 'while it is busy, memory is used again');
  t.is(memory.take(100_000), piece);
  memory.give(piece);

  isIdle = true;
  return new Promise<void>((resolve) => {
    // A WeakRef keeps what it refers to until the turn of the loop ends.
    setImmediate(() => {
      mock.timers.tick(checkMs);
      t.is(garbage.deref(), undefined);
      t.not(memory.take(100_000), piece);
      stop();
      mock.timers.reset();
      resolve();
    });
  });
});

test('threads share so much memory of a bus, which is not dropped while it may be used again', (t) => {
  const slabs = new Slabs({ areShared: true });
  const most = 48 * 1024 * 1024;
  const size = 4 * 1024 * 1024;
  const take = (bytes = size) => slabs.take(bytes);
  const isShared = ({ bytes }: { bytes: Buffer }): boolean => bytes.buffer instanceof SharedArrayBuffer;
  const taken = Array.from({ length: 2 * (most / size) }, () => take());
  t.is(taken.filter(isShared).length, most / size);
  const shared = new Set(taken.filter(isShared).map(({ bytes }) => bytes.buffer));
  for (const slab of taken) slab.release();
  const again = Array.from(shared, () => take());
  t.deepEqual(new Set(again.map(({ bytes }) => bytes.buffer)), shared);
  again[0]?.release();
  t.true(isShared(take(size / 2)), 'of one that is larger, where no more may be shared');
});
