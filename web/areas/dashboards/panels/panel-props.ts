import type { PanelData } from '../fields.ts';

export interface PanelProps {
  readonly panel: PanelData;
  /** Height of the drawing area in pixels */
  readonly height: number;
  /** Start of the range, in epoch milliseconds */
  readonly from: number;
  readonly to: number;
  readonly annotationTimes: readonly number[];
  /** Panels of a group share a cursor */
  readonly cursorGroup: string;
  /** Whether the panel belongs to a snapshot, which sends no queries */
  readonly isSnapshot?: boolean;
}
