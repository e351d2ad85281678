/** Pages of log records while records arrive: no existing record is skipped or repeated, in both orders. */
import test from 'ava';
import { seeded } from '../cases/random.ts';
import { type Harness, startHarness } from './api-harness.ts';

let harness: Harness;
test.before(async () => {
  harness = await startHarness();
});
test.after.always(() => harness?.close());

const minuteNs = 60_000_000_000n;
const endNs = BigInt(Date.now()) * 1_000_000n;
const random = seeded(7);
let offset = 0;

/** Ages in nanoseconds: many equal, few far apart, some at ten-minute bounds of the sorting key or the first range. */
const someAge = (): bigint => {
  const edges = [0n, minuteNs, minuteNs + 1n, 21n * minuteNs, 600n * minuteNs, 1_439n * minuteNs];
  switch (random(4)) {
    case 0:
      return edges[random(edges.length)] as bigint;
    case 1:
      return BigInt(random(50)) * 1_000_000_000n;
    case 2:
      return 5n * minuteNs + BigInt(random(3));
    default:
      return BigInt(random(1_440)) * minuteNs;
  }
};

interface Placed {
  readonly time: bigint;
  readonly partition: number;
  readonly offset: number;
  readonly ordinal: number;
}

const idOf = ({ time, partition, offset, ordinal }: Placed): string => `${time}-${partition}-${offset}-${ordinal}`;
const compare = (one: Placed, other: Placed): number =>
  Number(one.time - other.time) ||
  one.partition - other.partition ||
  one.offset - other.offset ||
  one.ordinal - other.ordinal;

/** Stores records of one service; half of them contain the word. */
const land = async (service: string, count: number): Promise<Placed[]> => {
  const placed = Array.from({ length: count }, () => ({
    time: endNs - someAge(),
    partition: random(3),
    offset: offset++,
    ordinal: random(2),
  }));
  const values = placed.map(
    (each) =>
      `('a', 'p1', now64(3), ${each.partition}, ${each.offset}, ${each.ordinal}, fromUnixTimestamp64Nano(toInt64(${each.time}), 'UTC'), '${service}', 'tick ${each.offset % 2 === 0 ? 'even' : 'odd'}')`,
  );
  await harness.columns.execute(
    `INSERT INTO logs (tenant_id, project_id, received_at, partition, offset, ordinal, timestamp, service, body) VALUES ${values.join(', ')}`,
  );
  return placed;
};

interface Page {
  readonly items: readonly { readonly id: string }[];
  readonly nextCursor: string | null;
}

const range = `from=${(endNs - 1_440n * minuteNs) / 1_000_000n}&to=${endNs / 1_000_000n}`;

for (const order of ['newest', 'oldest'] as const)
  for (const [search, limit] of [
    ['tick', 3],
    ['even', 7],
    ['tick', 50],
  ] as const)
    test.serial(
      `${order} first, ${limit} per page: arriving records do not shift the pages of a search for ${search}`,
      async (t) => {
        const service = `${order}-${search}-${limit}`;
        const matchesSearch = ({ offset: at }: Placed): boolean => search === 'tick' || at % 2 === 0;
        const existingIds = (await land(service, 120)).filter(matchesSearch).sort(compare).map(idOf);
        if (order === 'newest') existingIds.reverse();
        const late = new Set<string>();
        const seen: string[] = [];
        let cursor = '';
        do {
          const path = `/api/logs?${range}&order=${order}&service=${service}&search=${search}&limit=${limit}&cursor=${cursor}`;
          const { status, body } = await harness.request('GET', path.replace(/&cursor=$/, ''), { as: 'viewer' });
          t.is(status, 200);
          const page = body as Page;
          t.true(page.items.length <= limit);
          t.true(page.items.length === limit || page.nextCursor === null, 'each page except the last is full');
          seen.push(...page.items.map(({ id }) => id));
          cursor = page.nextCursor ?? '';
          if (seen.length < 300) for (const each of await land(service, 2)) late.add(idOf(each));
        } while (cursor !== '');
        t.is(new Set(seen).size, seen.length, 'no record is repeated');
        t.deepEqual(
          seen.filter((id) => !late.has(id)),
          existingIds,
        );
      },
    );
