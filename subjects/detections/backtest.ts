/** Backtest: the signals that the stream raised, or would have raised, for stored records. */

import type { LogRecord } from '../../queries/signals/log-record.ts';
import type { DetectionMatch, DetectionSignal } from '../../schemas/signals.ts';
import {
  addMatch,
  type CorrelationWindow,
  chainOrder,
  emptyWindow,
  endWindow,
  waitsForEnd,
  windowDueMs,
} from './correlation.ts';
import type { DeployedCorrelation, Deployment } from './deployed.ts';
import { chainedMatch, type DetectedRecord, detect, mergeSuppressedSignal } from './detect.ts';

interface OpenWindow {
  readonly correlation: DeployedCorrelation;
  readonly of: Pick<DetectionMatch, 'key' | 'tenantId'> & { readonly projectId: string };
  readonly window: CorrelationWindow;
}

/** Processes records in order of time, like the stream. */
export class Backtest {
  readonly #deployment: Deployment;
  readonly #nowMs: number;
  readonly #windows = new Map<string, OpenWindow>();
  /** Signals that suppress similar signals for a period, with their number */
  readonly #suppressing = new Map<string, DetectionSignal>();
  #signals: DetectionSignal[] = [];
  /** Matches for chained correlations, which are processed in order of time */
  #chained: DetectionMatch[] = [];
  /** The earliest end of a window whose condition is evaluated at its end */
  #dueMs = Number.POSITIVE_INFINITY;

  /** `nowMs` is the time at which exceptions are evaluated. */
  constructor(deployment: Deployment, nowMs: number) {
    this.#deployment = deployment;
    this.#nowMs = nowMs;
  }

  /** Returns the signals of a record. */
  add(record: DetectedRecord): DetectionSignal[] {
    this.#processChained(record.timeMs);
    if (record.timeMs >= this.#dueMs) this.#endWindows(record.timeMs);
    const detected = detect(this.#deployment, record, this.#nowMs);
    this.#signals.push(...detected.signals);
    for (const match of detected.matches) this.#match(match);
    this.#chained.push(...detected.chained);
    return this.#takeSignals();
  }

  /** Returns the signals of windows at their end, and again those that suppressed others. */
  end(): DetectionSignal[] {
    this.#processChained(Number.POSITIVE_INFINITY);
    this.#endWindows(Number.POSITIVE_INFINITY);
    this.#processChained(Number.POSITIVE_INFINITY);
    for (const signal of this.#suppressing.values()) this.#emitSuppressing(signal);
    this.#suppressing.clear();
    return this.#takeSignals();
  }

  #takeSignals(): DetectionSignal[] {
    const signals = this.#signals;
    this.#signals = [];
    return signals;
  }

  /** Processes waiting matches of chained correlations before a time. */
  #processChained(beforeMs: number): void {
    const due = this.#chained.filter(({ signal }) => signal.timeMs < beforeMs);
    if (due.length === 0) return;
    this.#chained = this.#chained.filter(({ signal }) => signal.timeMs >= beforeMs);
    const ordered = due.map((match) => {
      const correlation = this.#deployment.correlations.find(({ id }) => id === match.forRule);
      return { match, order: chainOrder(match, correlation?.document.rules ?? []) };
    });
    ordered.sort((one, other) =>
      one.match.signal.timeMs === other.match.signal.timeMs
        ? one.order < other.order
          ? -1
          : 1
        : one.match.signal.timeMs - other.match.signal.timeMs,
    );
    for (const { match } of ordered) this.#match(match);
  }

  #match(match: DetectionMatch): void {
    const correlation = this.#deployment.correlations.find(({ id }) => id === match.forRule);
    if (correlation === undefined) {
      this.#suppress(match);
      return;
    }
    const { key, tenantId, signal } = match;
    const of = { key, tenantId, projectId: signal.projectId };
    const name = JSON.stringify([match.forRule, key, signal.projectId]);
    const addition = addMatch(correlation, this.#windows.get(name)?.window ?? emptyWindow(), match);
    if (addition.isLate) return;
    this.#windows.set(name, { correlation, of, window: addition.window });
    if (waitsForEnd(correlation.document))
      this.#dueMs = Math.min(this.#dueMs, windowDueMs(correlation, addition.window));
    if (addition.signal !== undefined) this.#emit(addition.signal);
  }

  #suppress({ forRule, key, signal }: DetectionMatch): void {
    const suppressionMs = (this.#deployment.stored.get(forRule)?.suppression?.forSeconds ?? 0) * 1000;
    const name = JSON.stringify([forRule, key]);
    const first = this.#suppressing.get(name);
    if (first !== undefined && Math.abs(signal.timeMs - first.timeMs) < suppressionMs) {
      this.#suppressing.set(name, mergeSuppressedSignal(first, signal));
      return;
    }
    this.#emitSuppressing(first);
    this.#suppressing.set(name, signal);
    this.#signals.push(signal);
  }

  /** Emits a signal again, with the number of suppressed ones. */
  #emitSuppressing(signal: DetectionSignal | undefined): void {
    if (signal !== undefined && signal.eventCount > 1) this.#signals.push(signal);
  }

  #emit(signal: DetectionSignal): void {
    const { matches, isSilent } = chainedMatch(this.#deployment, signal);
    this.#chained.push(...matches);
    if (!isSilent) this.#signals.push(signal);
  }

  #endWindows(timeMs: number): void {
    this.#dueMs = Number.POSITIVE_INFINITY;
    for (const [name, { correlation, of }] of this.#windows) {
      if (!waitsForEnd(correlation.document)) continue;
      for (
        let open = this.#windows.get(name);
        open !== undefined && windowDueMs(correlation, open.window) <= timeMs;
        open = this.#windows.get(name)
      ) {
        const { window, signal } = endWindow(correlation, open.window, of);
        if (window === undefined) this.#windows.delete(name);
        else this.#windows.set(name, { ...open, window });
        if (signal !== undefined) this.#emit(signal);
      }
      const nextWindow = this.#windows.get(name);
      if (nextWindow !== undefined) this.#dueMs = Math.min(this.#dueMs, windowDueMs(correlation, nextWindow.window));
    }
  }
}

/** Converts a stored record to the form that the stream processes. */
export const storedRecord = (tenantId: string, record: LogRecord): DetectedRecord => ({
  tenantId,
  projectId: record.projectId,
  recordId: record.id,
  service: record.service,
  timeMs: Math.floor(Date.parse(record.timestamp)),
  values: {
    body: record.body,
    attributes: Object.entries(record.attributes),
    resource: Object.entries(record.resource ?? {}),
  },
});
