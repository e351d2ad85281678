import { GrowingHead } from '../../../../schemas/evidence.ts';
import type { Bus, BusRecord } from '../../../../schemas/ports/bus.ts';
import type { Columns } from '../../../../schemas/ports/columns.ts';
import type { HeadStore } from '../../../../schemas/ports/evidence.ts';
import { topics } from '../../../../schemas/topics.ts';
import { createLazyProducer } from '../../../bus-producer.ts';

const topic = topics.evidenceHeads.name;
const headsPerPage = 1_000;
const newestHeadCount = 10;

interface Row {
  readonly covers: string;
  readonly root: string;
  readonly key: string;
  readonly last: string;
  readonly subtrees: string;
  readonly signed: string;
  readonly signature: string;
}

const selectHeads = `SELECT toString(size) AS covers, root, key_id AS key, last_hash AS last, subtrees,
  toString(toUnixTimestamp64Milli(signed_at)) AS signed, signature
  FROM evidence_heads WHERE tenant_id = {tenant:String}`;

const toHead = (tenantId: string, row: Row): GrowingHead => ({
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
 * Reads the heads on the bus that are not in the table yet. The offsets in the table are read first, so that a head
 * that is inserted in the meantime is returned at least once.
 */
async function* readUnstoredRecords(bus: Bus, columns: Columns): AsyncGenerator<BusRecord> {
  const rows = await columns.query<{ partition: number; last: string }>(
    'SELECT partition, toString(max(evidence_heads.offset)) AS last FROM evidence_heads GROUP BY partition',
  );
  const storedOffsets = new Map(rows.map(({ partition, last }) => [partition, Number(last)]));
  for (const { partition, earliest, end } of await bus.offsets(topic)) {
    const from = Math.max(earliest, (storedOffsets.get(partition) ?? -1) + 1);
    if (from < end) yield* bus.read(topic, partition, from, end);
  }
}

export const createHeadStore = (bus: Bus, columns: Columns): HeadStore => {
  const producer = createLazyProducer(bus);

  const readUnstoredHeads = async (tenantId: string): Promise<GrowingHead[]> => {
    const heads: GrowingHead[] = [];
    for await (const { key, value } of readUnstoredRecords(bus, columns)) {
      const head = key === tenantId ? GrowingHead.safeParse(JSON.parse(value.toString('utf8'))) : undefined;
      if (head?.data?.tenantId === tenantId) heads.push(head.data);
    }
    return heads.sort((left, right) => left.size - right.size);
  };

  const readStoredHeads = async (tenantId: string, after: number, upTo: number): Promise<GrowingHead[]> => {
    const rows = await columns.forTenant(tenantId).query<Row>(
      // Heads of the same size are in the same page, so that none is lost between two pages.
      `${selectHeads} AND size > {after:UInt64} AND size <= {upTo:UInt64} ORDER BY size LIMIT ${headsPerPage} WITH TIES`,
      { after, upTo },
    );
    return rows.map((row) => toHead(tenantId, row));
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
    async *listBySize(tenantId, after, upTo) {
      const unstoredHeads = (await readUnstoredHeads(tenantId)).filter(({ size }) => size > after && size <= upTo);
      for (let from = after; ; ) {
        const page = await readStoredHeads(tenantId, from, upTo);
        const last = page.at(-1);
        if (last === undefined) break;
        for (const head of page) {
          while (unstoredHeads[0] !== undefined && unstoredHeads[0].size < head.size)
            yield unstoredHeads.shift() as GrowingHead;
          yield head;
        }
        from = last.size;
      }
      yield* unstoredHeads;
    },
    async listNewest(tenantId) {
      const waiting = await readUnstoredHeads(tenantId);
      const rows = await columns
        .forTenant(tenantId)
        .query<Row>(`${selectHeads} ORDER BY size DESC LIMIT ${newestHeadCount}`);
      const heads = [...waiting, ...rows.map((row) => toHead(tenantId, row))];
      return heads.sort((left, right) => right.size - left.size).slice(0, newestHeadCount);
    },
    async getNewestSizes() {
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
