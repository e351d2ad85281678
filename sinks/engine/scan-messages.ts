/** Messages between the main thread and the scan workers. */
import type { PackedRecords } from '../../runtime/packed-records.ts';
import type { EncodedBlock } from '../native/rows.ts';

/** Messages of one partition. Their memory belongs to the worker until it replies. */
export interface ScanRequest {
  readonly kind: 'scan';
  readonly id: number;
  readonly sink: string;
  /** As stored. */
  readonly partition: number;
  readonly records: PackedRecords;
}

/** Returns the memory of a scan's blocks for reuse, and reports whether the blocks were inserted. */
export interface ScanSettled {
  readonly kind: 'settled';
  readonly id: number;
  readonly sink: string;
  readonly hasLanded: boolean;
  readonly memory: readonly ArrayBufferLike[];
}

/** A message that can never be processed. The blocks contain none of its rows. */
export interface RejectedMessage {
  readonly index: number;
  readonly reason: string;
  readonly message: string;
}

export interface ScanReply {
  readonly id: number;
  /** Blocks with rows, in insert order. */
  readonly blocks: readonly EncodedBlock[];
  readonly rejected: readonly RejectedMessage[];
  /** Set if the scanner itself failed, so that nothing was scanned. */
  readonly failure?: string;
}
