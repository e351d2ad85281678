import type { Drawn } from '../fields.ts';

export interface PanelProps {
  readonly drawn: Drawn;
  /** Of what is drawn, in pixels. */
  readonly height: number;
  /** The range, in epoch milliseconds. */
  readonly from: number;
  readonly to: number;
  readonly marks: readonly number[];
  /** Panels of one have one cursor. */
  readonly group: string;
  /** Of a snapshot: nothing is asked for it. */
  readonly isFrozen?: boolean;
}
