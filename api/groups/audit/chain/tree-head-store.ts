import { GrowingHead } from '../../../../schemas/evidence.ts';
import type { Bus, BusRecord } from '../../../../schemas/ports/bus.ts';
import type { Columns } from '../../../../schemas/ports/columns.ts';
import type { HeadStore } from '../../../../schemas/ports/evidence.ts';
import { topics } from '../../../../schemas/topics.ts';
import { lazyProducer } from '../../../bus-producer.ts';

const topic = topics.evidenceHeads.name;
const pageHeads = 1_000;
const newestHeads = 10;

interface Row {
  readonly covers: string;
  readonly root: string;
  readonly key: string;
  readonly last: string;
  readonly subtrees: string;
  readonly signed: string;
  readonly signature: string;
}

const selected = `SELECT toString(size) AS covers, root, key_id AS key, last_hash AS last, subtrees,
  toString(toUnixTimestamp64Milli(signed_at)) AS signed, signature
  FROM evidence_heads WHERE tenant_id = {tenant:String}`;

const headOf = (tenantId: string, row: Row): GrowingHead => ({
  tenantId,
  size: Number(row.covers),
  root: row.root,
  lastHash: row.last,
  signedAt: new Date(Number(row.signed)).toISOString(),
  keyId: row.key,
  signature: row.signature,
  subtrees: row.subtrees.match(/.{64}/g) ?? [],
});

/**
 * Heads on the bus that are not in the table yet. The landed offsets are read first, so that a head that lands in the
 * meantime is read at least once.
 */
async function* notLanded(bus: Bus, columns: Columns): AsyncGenerator<BusRecord> {
  const rows = await columns.query<{ partition: number; last: string }>(
    'SELECT partition, toString(max(evidence_heads.offset)) AS last FROM evidence_heads GROUP BY partition',
  );
  const landed = new Map(rows.map(({ partition, last }) => [partition, Number(last)]));
  for (const { partition, earliest, end } of await bus.offsets(topic)) {
    const from = Math.max(earliest, (landed.get(partition) ?? -1) + 1);
    if (from < end) yield* bus.read(topic, partition, from, end);
  }
}

export const openHeadStore = (bus: Bus, columns: Columns): HeadStore => {
  const producer = lazyProducer(bus);

  const onTheWay = async (tenantId: string): Promise<GrowingHead[]> => {
    const heads: GrowingHead[] = [];
    for await (const { key, value } of notLanded(bus, columns)) {
      const head = key === tenantId ? GrowingHead.safeParse(JSON.parse(value.toString('utf8'))) : undefined;
      if (head?.data?.tenantId === tenantId) heads.push(head.data);
    }
    return heads.sort((left, right) => left.size - right.size);
  };

  const landedAfter = async (tenantId: string, after: number, upTo: number): Promise<GrowingHead[]> => {
    const rows = await columns.of(tenantId).query<Row>(
      // Heads of the same size are in the same page, so that none is lost between two pages.
      `${selected} AND size > {after:UInt64} AND size <= {upTo:UInt64} ORDER BY size LIMIT ${pageHeads} WITH TIES`,
      { after, upTo },
    );
    return rows.map((row) => headOf(tenantId, row));
  };

  return {
    async publish(heads) {
      const messages = heads.map((head) => ({
        topic,
        key: head.tenantId,
        value: Buffer.from(JSON.stringify(head)),
        headers: { tenant: head.tenantId },
      }));
      await (await producer.get()).publish(messages);
    },
    async *inOrder(tenantId, after, upTo) {
      const waiting = (await onTheWay(tenantId)).filter(({ size }) => size > after && size <= upTo);
      for (let from = after; ; ) {
        const page = await landedAfter(tenantId, from, upTo);
        const last = page.at(-1);
        if (last === undefined) break;
        for (const head of page) {
          while (waiting[0] !== undefined && waiting[0].size < head.size) yield waiting.shift() as GrowingHead;
          yield head;
        }
        from = last.size;
      }
      yield* waiting;
    },
    async newest(tenantId) {
      const waiting = await onTheWay(tenantId);
      const rows = await columns.of(tenantId).query<Row>(`${selected} ORDER BY size DESC LIMIT ${newestHeads}`);
      const heads = [...waiting, ...rows.map((row) => headOf(tenantId, row))];
      return heads.sort((left, right) => right.size - left.size).slice(0, newestHeads);
    },
    async sizes() {
      const rows = await columns.query<{ tenant: string; covers: string }>(
        'SELECT tenant_id AS tenant, toString(max(size)) AS covers FROM evidence_heads GROUP BY tenant_id',
        {},
        { maxResultRows: 10_000_000 },
      );
      return new Map(rows.map(({ tenant, covers }) => [tenant, Number(covers)]));
    },
    async close() {
      await producer.close();
    },
  };
};
