/** When a tenant is skipped, and when a processor stops. */
import test from 'ava';
import { encodeOrdinals, parseOrdinalFilter } from '../../processors/engine/ordinals.ts';
import { ThreadShares } from '../../processors/engine/shares.ts';
import { TenantFuse } from '../../processors/engine/tenant-fuse.ts';

/**
 * Whether the first of several tenants exceeds half of a thread, if each uses these milliseconds in each of 70 seconds.
 */
const isOver = (...usedMs: readonly number[]): boolean => {
  const shares = new ThreadShares();
  for (let second = 0; second < 70; second++) {
    for (const [tenant, ms] of usedMs.entries()) shares.add('p', `tenant-${tenant}`, ms, second * 1_000);
  }
  return shares.isOver('p', 'tenant-0', 0.5);
};

test('a tenant is over its share after it exceeds it for a minute while others wait', (t) => {
  t.true(isOver(700, 200));
  t.false(isOver(700), 'no other tenant was active');
  t.false(isOver(600, 100), 'the thread had spare time');
  t.false(isOver(300, 600), 'others took more');
});

test('a tenant over its share is reported once', (t) => {
  const shares = new ThreadShares();
  for (let second = 0; second < 61; second++)
    for (const tenant of ['a', 'b']) shares.add('p', tenant, tenant === 'a' ? 900 : 50, second * 1_000);
  t.true(shares.isOver('p', 'a', 0.5));
  t.false(shares.isOver('p', 'a', 0.5));
});

const usageOf = (tenantId: string, messages: number, poison: number) => ({
  tenantId,
  messages,
  poison,
  ms: 0,
  stateBytes: 0,
});

test('dead letters of one tenant name it, those of several tenants throw, and a few do neither', (t) => {
  t.is(new TenantFuse('g').check([usageOf('bad', 30, 30), usageOf('good', 60, 1)]), 'bad');
  t.throws(() => new TenantFuse('g').check([usageOf('bad', 30, 30), usageOf('worse', 40, 40)]), {
    message: /several tenants/,
  });
  t.is(new TenantFuse('g').check([usageOf('bad', 30, 3)]), undefined);
  t.is(new TenantFuse('g').check([usageOf('bad', 19, 19)]), undefined);
});

test('a batch that makes the limit throw is not counted, and the count of a named tenant restarts', (t) => {
  const fuse = new TenantFuse('g');
  for (let time = 0; time < 3; time++) t.throws(() => fuse.check([usageOf('a', 30, 30), usageOf('b', 30, 30)]));
  t.is(fuse.check([usageOf('a', 30, 0), usageOf('b', 30, 0)]), undefined);
  t.is(fuse.check([usageOf('c', 40, 40)]), 'c');
  t.is(fuse.check([usageOf('c', 5, 1)]), undefined);
});

for (const ordinals of [[0], [0, 1, 2], [3, 5, 6, 9], [0, 2, 4]]) {
  test(`the items ${ordinals.join(', ')} are named by a header, and no others`, (t) => {
    const isNamed = parseOrdinalFilter(encodeOrdinals(ordinals));
    t.deepEqual(
      Array.from({ length: 12 }, (_, ordinal) => ordinal).filter((ordinal) => isNamed?.(ordinal)),
      ordinals,
    );
  });
}
