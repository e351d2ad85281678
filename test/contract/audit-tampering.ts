/** Modifications of a chain of twelve records by an attacker with write access to the store, and their detection. */

import { hash } from 'node:crypto';
import { hashDetails, hashRecord } from '../../api/groups/audit/chain/chain.ts';
import { erasureAction } from '../../api/groups/audit/chain/erasures.ts';
import { deriveEvidenceKey } from '../../api/groups/audit/chain/evidence-key.ts';
import type { ChainBreak } from '../../api/groups/audit/chain/verification.ts';
import { createSecretBox } from '../../runtime/secret-box.ts';
import type { Collection, StoredMetadata } from '../../schemas/ports/documents.ts';
import type { HeadStore } from '../../schemas/ports/evidence.ts';
import {
  type AuditHead,
  type AuditRecord,
  auditHeadId,
  buildAuditRecordId,
  buildAuditUpperBound,
} from '../../schemas/resources/audit-record.ts';

interface Reach {
  readonly tenantId: string;
  readonly records: Collection<AuditRecord>;
  readonly ends: Collection<AuditHead>;
  readonly heads: HeadStore;
  /** Signs the existing records, as a running instance does within a minute. */
  sign(): Promise<unknown>;
}

interface Tampering {
  readonly what: string;
  /** Record counts after which a tree head was signed. */
  readonly signedAt: readonly number[];
  tamper(reach: Reach): Promise<unknown>;
  /** `undefined` if the modification cannot be detected. */
  readonly found: Partial<ChainBreak> | undefined;
}

const at = async ({ records }: Reach, sequence: number): Promise<AuditRecord & StoredMetadata> => {
  const filter = { id: { $gt: buildAuditUpperBound(sequence - 1), $lt: buildAuditUpperBound(sequence) } };
  const [record] = (await records.list({ filter })).items;
  if (record === undefined) throw new Error(`there is no record ${sequence}`);
  return record;
};

const edit = async (reach: Reach, sequence: number, changes: Partial<AuditRecord>): Promise<void> => {
  await reach.records.update((await at(reach, sequence)).id, changes);
};

const remove = (reach: Reach, ...sequences: readonly number[]): Promise<unknown> =>
  Promise.all(sequences.map(async (sequence) => reach.records.delete((await at(reach, sequence)).id)));

/** Swaps the contents of two records. */
const swap = async (reach: Reach, left: number, right: number, preserve: 'sequence' | 'nothing'): Promise<void> => {
  const [one, two] = [await at(reach, left), await at(reach, right)];
  const preserved = (record: AuditRecord): Partial<AuditRecord> =>
    preserve === 'sequence' ? { sequence: record.sequence } : {};
  await reach.records.replace(one.id, { ...two, ...preserved(one) });
  await reach.records.replace(two.id, { ...one, ...preserved(two) });
};

/** A record with modified content and the hash that matches it. */
const rehashed = (tenantId: string, record: AuditRecord): AuditRecord => ({
  ...record,
  hash: hashRecord(tenantId, record),
});

/** Rewrites the chain from a record on with consistent hashes, as an attacker with the source code would. */
const rewriteFrom = async (reach: Reach, from: number): Promise<void> => {
  let previousHash = (await at(reach, from)).previousHash;
  for (let sequence = from; sequence <= 12; sequence++) {
    const record = { ...(await at(reach, sequence)), previousHash };
    const changed = sequence === from ? { ...record, action: 'thing.update' } : record;
    const next = rehashed(reach.tenantId, changed);
    await reach.records.replace(record.id, next);
    previousHash = next.hash;
  }
  await reach.ends.replace(auditHeadId, { sequence: 12, hash: previousHash });
};

const moveEnd = async (reach: Reach, sequence: number): Promise<void> => {
  await reach.ends.replace(auditHeadId, { sequence, hash: (await at(reach, sequence)).hash });
};

/** Removes the details of all records, and appends an erasure record that accounts for them, with a valid hash. */
const forgeErasure = async (reach: Reach, sign?: (recordHash: string) => string): Promise<void> => {
  for (let sequence = 1; sequence <= 12; sequence++) await edit(reach, sequence, { details: null });
  const { id: _, requestId, at: time, hash: previousHash } = await at(reach, 12);
  const details = { salt: 'x', actorName: '', resourceName: '', address: '', changes: [] };
  const forged = rehashed(reach.tenantId, {
    sequence: 13,
    at: time,
    action: erasureAction,
    requestId,
    previousHash,
    hash: '',
    actor: { type: 'system', id: '' },
    resource: { type: 'audit-log', id: '*' },
    details,
    detailsHash: hashDetails(details),
  });
  await reach.records.insert({
    id: buildAuditRecordId(forged),
    ...forged,
    ...(sign && { signature: sign(forged.hash) }),
  });
  await reach.ends.replace(auditHeadId, { sequence: 13, hash: forged.hash });
  await reach.sign();
};

const foreignKey = deriveEvidenceKey(createSecretBox('the secret key of another installation'));

export const tamperings: readonly Tampering[] = [
  {
    what: 'a record that says something else',
    signedAt: [12],
    tamper: (reach) => edit(reach, 5, { action: 'thing.update' }),
    found: { kind: 'record-edited', sequence: 5 },
  },
  {
    what: 'a record by somebody else',
    signedAt: [],
    tamper: (reach) => edit(reach, 1, { actor: { type: 'user', id: 'u2' } }),
    found: { kind: 'record-edited', sequence: 1 },
  },
  {
    what: 'the last record edited',
    signedAt: [],
    tamper: (reach) => edit(reach, 12, { at: new Date(0).toISOString() }),
    found: { kind: 'record-edited', sequence: 12 },
  },
  {
    what: 'a record with another predecessor',
    signedAt: [],
    tamper: (reach) => edit(reach, 5, { previousHash: hash('sha256', 'x') }),
    found: { kind: 'record-edited', sequence: 5 },
  },
  {
    what: 'details that say something else',
    signedAt: [12],
    async tamper(reach) {
      const { details } = await at(reach, 7);
      await edit(reach, 7, { details: details && { ...details, changes: [] } });
    },
    found: { kind: 'details-edited', sequence: 7 },
  },
  {
    what: 'details removed without a recorded erasure',
    signedAt: [12],
    tamper: (reach) => edit(reach, 7, { details: null }),
    found: { kind: 'details-removed', sequence: 7 },
  },
  {
    what: 'all details removed, and an erasure of everybody forged, which the instance signs over',
    signedAt: [12],
    tamper: (reach) => forgeErasure(reach),
    found: { kind: 'erasure-unsigned', sequence: 1 },
  },
  {
    what: 'all details removed, and an erasure forged with a signature of another key',
    signedAt: [12],
    tamper: (reach) => forgeErasure(reach, (recordHash) => foreignKey.signErasure(reach.tenantId, recordHash)),
    found: { kind: 'erasure-unsigned', sequence: 1 },
  },
  {
    what: 'a record removed',
    signedAt: [8],
    tamper: (reach) => remove(reach, 5),
    found: { kind: 'record-removed', sequence: 5, message: 'record 5 is missing: record 6 comes next' },
  },
  {
    what: 'the first records removed',
    signedAt: [],
    tamper: (reach) => remove(reach, 1, 2, 3),
    found: { kind: 'record-removed', sequence: 1, message: 'records 1 to 3 are missing: record 4 comes next' },
  },
  {
    what: 'two records in each other’s place',
    signedAt: [12],
    tamper: (reach) => swap(reach, 5, 9, 'nothing'),
    found: {
      kind: 'records-reordered',
      sequence: 5,
      message: 'the record of position 5 is at position 9',
    },
  },
  {
    what: 'two records in each other’s place, numbered as if they belonged there',
    signedAt: [12],
    tamper: (reach) => swap(reach, 5, 9, 'sequence'),
    found: { kind: 'records-reordered', sequence: 5 },
  },
  {
    what: 'two neighbours exchanged and renumbered',
    signedAt: [12],
    tamper: (reach) => swap(reach, 5, 6, 'sequence'),
    found: { kind: 'records-reordered', sequence: 5 },
  },
  {
    what: 'a record replaced by another with a right hash',
    signedAt: [12],
    async tamper(reach) {
      const record = await at(reach, 5);
      await reach.records.replace(record.id, rehashed(reach.tenantId, { ...record, action: 'thing.update' }));
    },
    found: { kind: 'record-replaced', sequence: 5 },
  },
  {
    what: 'a second record in a place',
    signedAt: [12],
    async tamper(reach) {
      const { id, ...record } = await at(reach, 6);
      await reach.records.insert({
        id: `${id}-1`,
        ...rehashed(reach.tenantId, { ...record, action: 'thing.update' }),
      });
    },
    found: { kind: 'chain-forked', sequence: 6 },
  },
  {
    what: 'the tail removed, its end left as it was',
    signedAt: [],
    tamper: (reach) => remove(reach, 11, 12),
    found: { kind: 'chain-truncated', sequence: 11 },
  },
  {
    what: 'a signed tail removed, and the end moved to fit',
    signedAt: [8, 12],
    async tamper(reach) {
      await remove(reach, 11, 12);
      await moveEnd(reach, 10);
    },
    found: { kind: 'chain-truncated', sequence: 11 },
  },
  {
    what: 'everything removed',
    signedAt: [8],
    async tamper(reach) {
      await remove(reach, ...Array.from({ length: 12 }, (_, index) => index + 1));
      await reach.ends.delete(auditHeadId);
    },
    found: { kind: 'chain-truncated', sequence: 1 },
  },
  {
    what: 'a tail that was not signed yet removed, and the end moved to fit',
    signedAt: [8],
    async tamper(reach) {
      await remove(reach, 10, 11, 12);
      await moveEnd(reach, 9);
    },
    found: undefined,
  },
  {
    what: 'the whole tail rewritten with right hashes',
    signedAt: [4, 8, 12],
    tamper: (reach) => rewriteFrom(reach, 5),
    found: { kind: 'chain-rewritten', sequence: 5 },
  },
  {
    what: 'the last record rewritten with a right hash',
    signedAt: [8, 12],
    tamper: (reach) => rewriteFrom(reach, 12),
    found: { kind: 'chain-rewritten', sequence: 9 },
  },
  {
    what: 'the end moved back',
    signedAt: [8],
    tamper: (reach) => moveEnd(reach, 9),
    found: { kind: 'end-moved', sequence: 10 },
  },
  {
    what: 'the end with another hash',
    signedAt: [],
    tamper: ({ ends }) => ends.replace(auditHeadId, { sequence: 12, hash: hash('sha256', 'x') }),
    found: { kind: 'end-moved' },
  },
  {
    what: 'a head of another key',
    signedAt: [8],
    async tamper({ tenantId, heads }) {
      const [head] = await heads.listNewest(tenantId);
      if (head === undefined) throw new Error('nothing was signed');
      const { signature: _, keyId: __, subtrees, ...signedFields } = head;
      await heads.publish([{ ...foreignKey.sign({ ...signedFields, size: 10 }), subtrees }]);
    },
    found: { kind: 'head-forged' },
  },
  {
    what: 'a head with a signature that is none',
    signedAt: [8],
    async tamper({ tenantId, heads }) {
      const [head] = await heads.listNewest(tenantId);
      if (head === undefined) throw new Error('nothing was signed');
      await heads.publish([{ ...head, size: 9 }]);
    },
    found: { kind: 'head-forged' },
  },
];
