import { defineCollection } from '../ports/documents.ts';

/** A completed and settled period of an SLO report. The audit chain contains its hash. */
export interface SloReport {
  readonly sloId: string;
  /** Key of the report's period: period, time zone and start. Revisions of the same period are numbered from 1. */
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
