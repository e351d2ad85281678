import type { Actor, AuditRecord } from '../../../../schemas/resources/audit-record.ts';

/** The action of recorded erasures of details; its resource is the person's id, or `everybodyId`. */
export const erasureAction = 'audit-log.erase';
export const everybodyId = '*';

/** An erasure, as its record describes it. */
export interface RecordedErasure {
  /** Sequence of its record */
  readonly sequence: number;
  readonly at: string;
  readonly actor: Actor;
  /** Id of the person whose details were erased; null when all details were erased. */
  readonly subject: string | null;
  /** Whether the installation signed it. An unsigned erasure explains no missing details. */
  readonly signed: boolean;
  /** Number of records whose missing details it explains */
  readonly details: number;
}

/** Records without details that have the same actor and resource. */
interface MissingDetails {
  readonly subjects: readonly string[];
  readonly first: number;
  readonly last: number;
  readonly count: number;
}

/**
 * Determines which missing details are explained by a signed erasure, for a stored or an exported chain. Records are
 * passed in the order of the chain. Memory use grows with the number of distinct actors and resources of records
 * without details, until the record of their erasure follows.
 */
export class ErasureTracker {
  readonly #isSigned: (record: AuditRecord) => boolean;
  readonly #missingDetails = new Map<string, MissingDetails>();
  readonly #recordedErasures: RecordedErasure[] = [];

  constructor(signed: (record: AuditRecord) => boolean) {
    this.#isSigned = signed;
  }

  /** Adds a record without details; an erasure must follow. */
  addMissing({ sequence, actor, resource }: AuditRecord): void {
    const subjects = [everybodyId, actor.id, resource.id];
    const key = JSON.stringify(subjects);
    const { first = sequence, count = 0 } = this.#missingDetails.get(key) ?? {};
    this.#missingDetails.set(key, { subjects, first, last: sequence, count: count + 1 });
  }

  /** Adds a record that may be an erasure. */
  addRecord(addRecord: AuditRecord): void {
    if (addRecord.action !== erasureAction) return;
    const { sequence, at, actor, resource } = addRecord;
    const isSigned = this.#isSigned(addRecord);
    let details = 0;
    for (const [key, { subjects, last, count }] of isSigned ? this.#missingDetails : []) {
      if (last >= sequence || !subjects.includes(resource.id)) continue;
      details += count;
      this.#missingDetails.delete(key);
    }
    this.#recordedErasures.push({
      sequence,
      at,
      actor,
      subject: resource.id === everybodyId ? null : resource.id,
      signed: isSigned,
      details,
    });
  }

  /**
   * The first record whose details are missing without a signed erasure, and the unsigned erasure, if any, that claims
   * them.
   */
  findUnexplained(): { readonly sequence: number; readonly claimedBy: RecordedErasure | undefined } | undefined {
    let earliest: MissingDetails | undefined;
    for (const missing of this.#missingDetails.values())
      if (earliest === undefined || missing.first < earliest.first) earliest = missing;
    if (earliest === undefined) return undefined;
    const { first, subjects } = earliest;
    const claimedBy = this.#recordedErasures.find(
      ({ signed, sequence, subject }) => !signed && sequence > first && subjects.includes(subject ?? everybodyId),
    );
    return { sequence: first, claimedBy };
  }

  get recorded(): readonly RecordedErasure[] {
    return this.#recordedErasures;
  }
}
