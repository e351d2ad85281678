import { toLegacyCanonicalJson } from '../../../../runtime/canonical-json.ts';
import type { EvidenceHead } from '../../../../schemas/evidence.ts';
import type { PublicEvidenceKey } from '../../../../schemas/ports/evidence.ts';
import type { AuditRecord } from '../../../../schemas/resources/audit-record.ts';
import { chainStart, hashDetails, hashRecord } from './chain.ts';
import { ErasureTracker, type RecordedErasure } from './erasures.ts';
import { GrowingTree, hashLeaf } from './merkle.ts';
import { mustHaveHeads } from './require-heads.ts';

export const breakKinds = [
  'record-edited',
  'details-edited',
  'details-removed',
  'erasure-unsigned',
  'record-removed',
  'records-reordered',
  'record-replaced',
  'chain-forked',
  'chain-truncated',
  'chain-rewritten',
  'end-moved',
  'head-forged',
  'head-misplaced',
  'heads-missing',
] as const;
type BreakKind = (typeof breakKinds)[number];

/** The first break of a chain, found by a verification. */
export interface ChainBreak {
  readonly kind: BreakKind;
  /** The first affected record */
  readonly sequence: number;
  readonly message: string;
}

const createBreak = (kind: BreakKind, sequence: number, message: string): ChainBreak => ({ kind, sequence, message });

/** The result of a verification. */
export interface Findings {
  readonly firstBreak: ChainBreak | undefined;
  /** Valid records up to the first break */
  readonly records: number;
  /** Records whose details a signed erasure removed */
  readonly erasedDetails: number;
  /** Every recorded erasure, signed or not, in the order of the chain */
  readonly erasures: readonly RecordedErasure[];
  readonly heads: number;
  readonly lastHead: EvidenceHead | undefined;
}

export interface VerificationOptions {
  readonly tenantId: string;
  readonly key: PublicEvidenceKey;
  /** When the chain was read, in epoch milliseconds. */
  readonly now: number;
}

/**
 * Verifies a chain from its first record, with constant memory. Records are passed in the order of their sequence, and
 * each signed tree head right after the last record that it covers, or at the end. After a break, only a record that
 * belongs at the broken position is checked.
 */
export class ChainVerifier {
  readonly #options: VerificationOptions;
  readonly #tree = new GrowingTree();
  readonly #erasures: ErasureTracker;
  /** Checked records, valid or not */
  #recordCount = 0;
  #lastHash = chainStart;
  #previousOfLast: string | undefined;
  #firstAt = '';
  /** Whether the chain must already have signed tree heads */
  #mustHaveHeads = false;
  #headCount = 0;
  #lastHead: EvidenceHead | undefined;
  #uncoveredHead: EvidenceHead | undefined;
  #firstBreak: ChainBreak | undefined;
  /** The predecessor hash that the record at the broken position would contain */
  #expectedHash: string | undefined;

  constructor(options: VerificationOptions) {
    this.#options = options;
    const { tenantId, key } = options;
    this.#erasures = new ErasureTracker(
      (record) =>
        hashRecord(tenantId, record, toLegacyCanonicalJson) === record.hash && key.isErasureSigned(tenantId, record),
    );
  }

  /** Whether details are missing that no erasure has explained so far */
  get hasMissingErasures(): boolean {
    return this.#erasures.findUnexplained() !== undefined;
  }

  /** Valid records so far */
  get size(): number {
    return this.#tree.size;
  }

  addRecord(addRecord: AuditRecord): void {
    this.#recordCount++;
    // Also after a break, because an erasure is signed independently.
    this.addErasure(addRecord);
    if (this.#firstBreak !== undefined) {
      this.#checkReordering(addRecord, this.#firstBreak);
      return;
    }
    this.#firstBreak = this.#checkMisplacedHead() ?? this.#checkPosition(addRecord) ?? this.#checkContent(addRecord);
    if (this.#firstBreak !== undefined) return;
    if (this.size === 0) this.#firstAt = addRecord.at;
    this.#mustHaveHeads ||= mustHaveHeads(this.#firstAt, addRecord.at, this.#options.now);
    if (addRecord.details === null) this.#erasures.addMissing(addRecord);
    this.#tree.append(hashLeaf(Buffer.from(addRecord.hash, 'hex')));
    this.#previousOfLast = this.#lastHash;
    this.#lastHash = addRecord.hash;
  }

  /**
   * Adds a record after the end of the checked range, if it is an erasure: details may be erased during the
   * verification.
   */
  addErasure(record: AuditRecord): void {
    this.#erasures.addRecord(record);
  }

  addHead(addHead: EvidenceHead): void {
    if (this.#firstBreak !== undefined) return;
    this.#firstBreak = this.#checkHead(addHead);
    if (this.#firstBreak !== undefined) return;
    if (addHead.size > this.size) {
      this.#uncoveredHead = addHead;
      return;
    }
    this.#headCount++;
    this.#lastHead = addHead;
  }

  /** Ends the verification with the chain's end from the head document, or without it if there is none to compare. */
  finish(end?: { readonly sequence: number; readonly hash: string }): Findings {
    // Details can only be missing in valid records, which precede any break.
    const detailsBreak = this.#checkMissingDetails();
    const { recorded } = this.#erasures;
    return {
      firstBreak: detailsBreak ?? this.#firstBreak ?? this.#checkEnd(end),
      records: detailsBreak === undefined ? this.size : detailsBreak.sequence - 1,
      erasedDetails: recorded.reduce((sum, { details }) => sum + details, 0),
      erasures: recorded,
      heads: this.#headCount,
      lastHead: this.#lastHead,
    };
  }

  /** Returns a break if the previous head precedes records that it covers, because it could not be compared with them. */
  #checkMisplacedHead(): ChainBreak | undefined {
    if (this.#uncoveredHead === undefined) return undefined;
    const position = this.size + 1;
    return createBreak(
      'head-misplaced',
      position,
      `the head over ${this.#uncoveredHead.size} records is before record ${position}`,
    );
  }

  /** Returns a break if the record is not at the expected position. */
  #checkPosition({ sequence, previousHash }: AuditRecord): ChainBreak | undefined {
    const position = this.size + 1;
    if (sequence > position) {
      this.#expectedHash = this.#lastHash;
      const missingText =
        sequence === position + 1 ? `record ${position} is` : `records ${position} to ${sequence - 1} are`;
      return createBreak('record-removed', position, `${missingText} missing: record ${sequence} comes next`);
    }
    if (sequence === position && previousHash !== this.#previousOfLast) return undefined;
    if (previousHash === this.#previousOfLast)
      return createBreak(
        'chain-forked',
        position - 1,
        `two records claim position ${position - 1}: the chain has two branches from there`,
      );
    return createBreak(
      'records-reordered',
      position,
      `record ${sequence} appears a second time, at position ${position}`,
    );
  }

  /** Returns a break if the record was changed or does not follow the previous one. */
  #checkContent(record: AuditRecord): ChainBreak | undefined {
    const { sequence, previousHash, details } = record;
    const follows = previousHash === this.#lastHash;
    if (hashRecord(this.#options.tenantId, record, toLegacyCanonicalJson) !== record.hash) {
      if (!follows) this.#expectedHash = this.#lastHash;
      return createBreak(
        'record-edited',
        sequence,
        `record ${sequence} differs from the recorded one: its hash does not match`,
      );
    }
    if (!follows)
      return createBreak(
        'record-replaced',
        Math.max(1, sequence - 1),
        `record ${sequence} does not follow the record before it: one of the two was replaced`,
      );
    if (details === null) return undefined;
    if (hashDetails(details, toLegacyCanonicalJson) === record.detailsHash) return undefined;
    return createBreak(
      'details-edited',
      sequence,
      `the details of record ${sequence} differ from the recorded details`,
    );
  }

  #checkMissingDetails(): ChainBreak | undefined {
    const unexplained = this.#erasures.findUnexplained();
    if (unexplained === undefined) return undefined;
    const { sequence, claimedBy } = unexplained;
    if (claimedBy === undefined)
      return createBreak(
        'details-removed',
        sequence,
        `the details of record ${sequence} are missing, and no record of their erasure exists`,
      );
    return createBreak(
      'erasure-unsigned',
      sequence,
      `the details of record ${sequence} were deleted by the unsigned erasure of record ${claimedBy.sequence}: it was forged, or recorded by a version that did not sign erasures`,
    );
  }

  #checkReordering({ previousHash }: AuditRecord, { sequence: position }: ChainBreak): void {
    if (this.#expectedHash === undefined || previousHash !== this.#expectedHash) return;
    this.#expectedHash = undefined;
    this.#firstBreak = createBreak(
      'records-reordered',
      position,
      `the record of position ${position} is at position ${this.#recordCount}`,
    );
  }

  #checkHead(head: EvidenceHead): ChainBreak | undefined {
    const { size, root, signedAt, tenantId } = head;
    const from = (this.#lastHead?.size ?? 0) + 1;
    if (tenantId !== this.#options.tenantId || !this.#options.key.isSignedBy(head))
      return createBreak(
        'head-forged',
        from,
        `the head over ${size} records of ${signedAt} is not signed by the verification key`,
      );
    if (size < this.size)
      return createBreak(
        'head-misplaced',
        from,
        `the head over ${size} records is after record ${this.size}, where it cannot be compared`,
      );
    if (size > this.size || root === this.#tree.root().toString('hex')) return undefined;
    return createBreak(
      'chain-rewritten',
      from,
      `records ${from} to ${size} are consistent, but they differ from the records that were signed at ${signedAt}`,
    );
  }

  #checkEnd(end: { readonly sequence: number; readonly hash: string } | undefined): ChainBreak | undefined {
    const next = this.size + 1;
    if (this.#uncoveredHead !== undefined)
      return createBreak(
        'chain-truncated',
        next,
        `the chain ends after record ${this.size}, but ${this.#uncoveredHead.size} records were signed at ${this.#uncoveredHead.signedAt}`,
      );
    if (this.#mustHaveHeads && this.#headCount === 0)
      return createBreak(
        'heads-missing',
        1,
        `no signed tree head covers this chain, which began at ${this.#firstAt}: they were removed, or lost with the bus and the table`,
      );
    if (end === undefined) return undefined;
    if (end.sequence > this.size)
      return createBreak(
        'chain-truncated',
        next,
        `the chain ends after record ${this.size}, but its stored end is record ${end.sequence}`,
      );
    if (end.sequence === this.size && end.hash === this.#lastHash) return undefined;
    return createBreak(
      'end-moved',
      end.sequence + 1,
      `the stored end of the chain is record ${end.sequence}, but the last record is ${this.size}`,
    );
  }
}
