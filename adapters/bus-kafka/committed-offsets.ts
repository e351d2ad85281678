/** Filters fetched records to those that consumers may see: no control records, and no records of aborted transactions. */
import type { KafkaRecord, RecordsBatch } from '@platformatic/kafka';
import type { PartitionResponse } from './fetch-response.ts';

const transactionalFlag = 0x10;
const controlFlag = 0x20;

/** A record with its offset and time. */
export interface FetchedRecord {
  readonly offset: number;
  readonly timestampMs: number;
  readonly record: KafkaRecord;
}

/** The key of a control record is version and type; type 0 aborts, 1 commits. */
const isAbortMarker = (batch: RecordsBatch): boolean => batch.records[0]?.key?.readInt16BE(2) === 0;

/**
 * Returns the records from `from` on, and the offset of the next fetch. A fetch response lists the aborted transactions
 * that overlap it. The records of their producers are dropped from the first offset of the transaction to its abort
 * marker, even if the marker is beyond this response. (The driver's own filter returns them in that case, and stores
 * only one range per producer.)
 */
export const filterCommittedRecords = (
  { records, abortedTransactions }: Pick<PartitionResponse, 'records' | 'abortedTransactions'>,
  from: number,
): { records: FetchedRecord[]; next: number } => {
  const abortedRanges = [...(abortedTransactions ?? [])].sort((a, b) => Number(a.firstOffset - b.firstOffset));
  const abortingProducers = new Set<bigint>();
  const visibleRecords: FetchedRecord[] = [];
  let nextAborted = 0;
  let next = from;
  for (const batch of records) {
    const first = Number(batch.firstOffset);
    const last = first + batch.lastOffsetDelta;
    for (
      let range = abortedRanges[nextAborted];
      range !== undefined && Number(range.firstOffset) <= last;
      range = abortedRanges[nextAborted]
    ) {
      abortingProducers.add(range.producerId);
      nextAborted++;
    }
    next = Math.max(next, last + 1);
    if ((batch.attributes & controlFlag) !== 0) {
      if (isAbortMarker(batch)) abortingProducers.delete(batch.producerId);
    } else if ((batch.attributes & transactionalFlag) === 0 || !abortingProducers.has(batch.producerId)) {
      appendVisibleRecords(batch, first, from, visibleRecords);
    }
  }
  return { records: visibleRecords, next };
};

const appendVisibleRecords = (batch: RecordsBatch, first: number, from: number, visible: FetchedRecord[]): void => {
  const base = Number(batch.firstTimestamp);
  for (const record of batch.records) {
    const offset = first + record.offsetDelta;
    // A fetch returns whole batches, which may begin before the requested offset.
    if (offset >= from) visible.push({ offset, timestampMs: base + Number(record.timestampDelta), record });
  }
};
