/** Budget of points to score per organization. */
import { maxPointsPerWindow, windowMs } from '../../subjects/anomalies/detector-progress.ts';

interface BudgetWindow {
  readonly number: number;
  points: number;
}

export class PointBudget {
  readonly #windows = new Map<string, BudgetWindow>();

  /** Returns whether the budget of the current half minute is not used up. Running work may exceed it. */
  hasRemaining(tenantId: string, nowMs: number): boolean {
    return this.#currentWindow(tenantId, nowMs).points < maxPointsPerWindow;
  }

  consume(tenantId: string, nowMs: number, points: number): void {
    this.#currentWindow(tenantId, nowMs).points += points;
  }

  #currentWindow(tenantId: string, nowMs: number): BudgetWindow {
    const number = Math.floor(nowMs / windowMs);
    const current = this.#windows.get(tenantId);
    if (current?.number === number) return current;
    const window: BudgetWindow = { number, points: 0 };
    this.#windows.set(tenantId, window);
    return window;
  }
}
