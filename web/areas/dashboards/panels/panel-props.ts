import type { Drawn } from '../fields.ts';

export interface PanelProps {
  readonly drawn: Drawn;
  /** Height of the drawing area in pixels */
  readonly height: number;
  /** Start of the range, in epoch milliseconds */
  readonly from: number;
  readonly to: number;
  readonly marks: readonly number[];
  /** Panels of a group share a cursor */
  readonly group: string;
  /** Whether the panel belongs to a snapshot, which sends no queries */
  readonly isFrozen?: boolean;
}
