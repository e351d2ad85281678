/** Budget of points to score per organization. */
import { maxPointsPerWindow, windowMs } from '../../subjects/anomalies/read-points.ts';

interface Window {
  readonly number: number;
  points: number;
}

export class PointBudget {
  readonly #windows = new Map<string, Window>();

  /** Returns whether the budget of the current half minute is not used up. Running work may exceed it. */
  has(tenantId: string, nowMs: number): boolean {
    return this.#windowOf(tenantId, nowMs).points < maxPointsPerWindow;
  }

  consume(tenantId: string, nowMs: number, points: number): void {
    this.#windowOf(tenantId, nowMs).points += points;
  }

  #windowOf(tenantId: string, nowMs: number): Window {
    const number = Math.floor(nowMs / windowMs);
    const known = this.#windows.get(tenantId);
    if (known?.number === number) return known;
    const window: Window = { number, points: 0 };
    this.#windows.set(tenantId, window);
    return window;
  }
}
