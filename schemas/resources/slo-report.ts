import { defineCollection } from '../ports/documents.ts';

/** One period of the report of an objective as it was once it had ended and settled. The audit chain holds its hash. */
export interface SloReport {
  readonly sloId: string;
  /** Period, time zone and begin: revisions of these are counted from 1. */
  readonly of: string;
  readonly revision: number;
  readonly frozenAt: string;
  /** SHA-256 of `content`. */
  readonly sha256: string;
  /** The period as JSON. */
  readonly content: string;
}

export const sloReports = defineCollection<SloReport>({
  name: 'slo-reports',
  indexes: [['sloId'], ['of']],
});
