/** Backtest: the signals that the stream raised, or would have raised, for stored records. */

import type { LogRecord } from '../../queries/signals/log-record.ts';
import type { DetectionMatch, DetectionSignal } from '../../schemas/signals.ts';
import {
  addMatch,
  type CorrelationWindow,
  createEmptyWindow,
  endWindow,
  getWindowDueMs,
  isDecidedAtEnd,
  toChainOrder,
} from './correlation.ts';
import type { DeployedCorrelation, Deployment } from './deployment.ts';
import { createChainedMatches, type DetectedRecord, detect, mergeSuppressedSignal } from './detect.ts';

interface OpenWindow {
  readonly correlation: DeployedCorrelation;
  readonly group: Pick<DetectionMatch, 'key' | 'tenantId'> & { readonly projectId: string };
  readonly window: CorrelationWindow;
}

/** Processes records in order of time, like the stream. */
export class Backtest {
  readonly #deployment: Deployment;
  readonly #nowMs: number;
  readonly #windows = new Map<string, OpenWindow>();
  /** Signals that suppress similar signals for a period, with the number of suppressed signals. */
  readonly #suppressingSignals = new Map<string, DetectionSignal>();
  #signals: DetectionSignal[] = [];
  /** Matches for chained correlations, which are processed in order of time. */
  #chained: DetectionMatch[] = [];
  /** The earliest end of a window whose condition is evaluated at its end. */
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
    const detection = detect(this.#deployment, record, this.#nowMs);
    this.#signals.push(...detection.signals);
    for (const match of detection.matches) this.#handleMatch(match);
    this.#chained.push(...detection.chained);
    return this.#takeSignals();
  }

  /** Returns the signals of windows at their end, and again those that suppressed others. */
  end(): DetectionSignal[] {
    this.#processChained(Number.POSITIVE_INFINITY);
    this.#endWindows(Number.POSITIVE_INFINITY);
    this.#processChained(Number.POSITIVE_INFINITY);
    for (const signal of this.#suppressingSignals.values()) this.#emitSuppressing(signal);
    this.#suppressingSignals.clear();
    return this.#takeSignals();
  }

  #takeSignals(): DetectionSignal[] {
    const signals = this.#signals;
    this.#signals = [];
    return signals;
  }

  /** Processes waiting matches of chained correlations before a time. */
  #processChained(beforeMs: number): void {
    const dueMatches = this.#chained.filter(({ signal }) => signal.timeMs < beforeMs);
    if (dueMatches.length === 0) return;
    this.#chained = this.#chained.filter(({ signal }) => signal.timeMs >= beforeMs);
    const orderedMatches = dueMatches.map((match) => {
      const correlation = this.#deployment.correlations.find(({ id }) => id === match.forRule);
      return { match, order: toChainOrder(match, correlation?.document.rules ?? []) };
    });
    orderedMatches.sort((left, right) =>
      left.match.signal.timeMs === right.match.signal.timeMs
        ? left.order < right.order
          ? -1
          : 1
        : left.match.signal.timeMs - right.match.signal.timeMs,
    );
    for (const { match } of orderedMatches) this.#handleMatch(match);
  }

  #handleMatch(match: DetectionMatch): void {
    const correlation = this.#deployment.correlations.find(({ id }) => id === match.forRule);
    if (correlation === undefined) {
      this.#suppressOrEmit(match);
      return;
    }
    const { key, tenantId, signal } = match;
    const group = { key, tenantId, projectId: signal.projectId };
    const windowKey = JSON.stringify([match.forRule, key, signal.projectId]);
    const addition = addMatch(correlation, this.#windows.get(windowKey)?.window ?? createEmptyWindow(), match);
    if (addition.isLate) return;
    this.#windows.set(windowKey, { correlation, group, window: addition.window });
    if (isDecidedAtEnd(correlation.document))
      this.#dueMs = Math.min(this.#dueMs, getWindowDueMs(correlation, addition.window));
    if (addition.signal !== undefined) this.#emitSignal(addition.signal);
  }

  #suppressOrEmit({ forRule, key, signal }: DetectionMatch): void {
    const suppressionMs = (this.#deployment.stored.get(forRule)?.suppression?.forSeconds ?? 0) * 1000;
    const suppressionKey = JSON.stringify([forRule, key]);
    const first = this.#suppressingSignals.get(suppressionKey);
    if (first !== undefined && Math.abs(signal.timeMs - first.timeMs) < suppressionMs) {
      this.#suppressingSignals.set(suppressionKey, mergeSuppressedSignal(first, signal));
      return;
    }
    this.#emitSuppressing(first);
    this.#suppressingSignals.set(suppressionKey, signal);
    this.#signals.push(signal);
  }

  /** Emits a signal again, with the number of suppressed ones. */
  #emitSuppressing(signal: DetectionSignal | undefined): void {
    if (signal !== undefined && signal.eventCount > 1) this.#signals.push(signal);
  }

  #emitSignal(signal: DetectionSignal): void {
    const { matches, isSilent } = createChainedMatches(this.#deployment, signal);
    this.#chained.push(...matches);
    if (!isSilent) this.#signals.push(signal);
  }

  #endWindows(timeMs: number): void {
    this.#dueMs = Number.POSITIVE_INFINITY;
    for (const [name, { correlation, group }] of this.#windows) {
      if (!isDecidedAtEnd(correlation.document)) continue;
      for (
        let openWindow = this.#windows.get(name);
        openWindow !== undefined && getWindowDueMs(correlation, openWindow.window) <= timeMs;
        openWindow = this.#windows.get(name)
      ) {
        const { window, signal } = endWindow(correlation, openWindow.window, group);
        if (window === undefined) this.#windows.delete(name);
        else this.#windows.set(name, { ...openWindow, window });
        if (signal !== undefined) this.#emitSignal(signal);
      }
      const nextWindow = this.#windows.get(name);
      if (nextWindow !== undefined) this.#dueMs = Math.min(this.#dueMs, getWindowDueMs(correlation, nextWindow.window));
    }
  }
}

/** Converts a stored record to the form that the stream processes. */
export const toDetectedRecord = (tenantId: string, record: LogRecord): DetectedRecord => ({
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
