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
