/** Backtest: the signals that the stream raised, or would have raised, for stored records. */

import type { LogRecord } from '../../queries/signals/log-record.ts';
import type { DetectionMatch, DetectionSignal } from '../../schemas/signals.ts';
import {
  addMatch,
  type CorrelationWindow,
  chainOrder,
  dueOf,
  emptyWindow,
  endWindow,
  waitsForEnd,
} from './correlation.ts';
import type { DeployedCorrelation, Deployment } from './deployed.ts';
import { chainedMatch, type DetectedRecord, detect, mergeSuppressedSignal } from './detect.ts';

interface Open {
  readonly correlation: DeployedCorrelation;
  readonly of: Pick<DetectionMatch, 'key' | 'tenantId'> & { readonly projectId: string };
  readonly window: CorrelationWindow;
}

/** Processes records in order of time, like the stream. */
export class Backtest {
  readonly #deployment: Deployment;
  readonly #nowMs: number;
  readonly #windows = new Map<string, Open>();
  /** Signals that suppress others for a time, and count them */
  readonly #hiding = new Map<string, DetectionSignal>();
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
    this.#chain(record.timeMs);
    if (record.timeMs >= this.#dueMs) this.#end(record.timeMs);
    const found = detect(this.#deployment, record, this.#nowMs);
    this.#signals.push(...found.signals);
    for (const match of found.matches) this.#match(match);
    this.#chained.push(...found.chained);
    return this.#drain();
  }

  /** Returns the signals of windows at their end, and again those that suppressed others. */
  end(): DetectionSignal[] {
    this.#chain(Number.POSITIVE_INFINITY);
    this.#end(Number.POSITIVE_INFINITY);
    this.#chain(Number.POSITIVE_INFINITY);
    for (const signal of this.#hiding.values()) this.#emitHidden(signal);
    this.#hiding.clear();
    return this.#drain();
  }

  #drain(): DetectionSignal[] {
    const signals = this.#signals;
    this.#signals = [];
    return signals;
  }

  /** Processes waiting matches of chained correlations before a time. */
  #chain(beforeMs: number): void {
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
    const added = addMatch(correlation, this.#windows.get(name)?.window ?? emptyWindow(), match);
    if (added.isLate) return;
    this.#windows.set(name, { correlation, of, window: added.window });
    if (waitsForEnd(correlation.document)) this.#dueMs = Math.min(this.#dueMs, dueOf(correlation, added.window));
    if (added.signal !== undefined) this.#emit(added.signal);
  }

  #suppress({ forRule, key, signal }: DetectionMatch): void {
    const forMs = (this.#deployment.stored.get(forRule)?.suppression?.forSeconds ?? 0) * 1000;
    const name = JSON.stringify([forRule, key]);
    const first = this.#hiding.get(name);
    if (first !== undefined && Math.abs(signal.timeMs - first.timeMs) < forMs) {
      this.#hiding.set(name, mergeSuppressedSignal(first, signal));
      return;
    }
    this.#emitHidden(first);
    this.#hiding.set(name, signal);
    this.#signals.push(signal);
  }

  /** Emits a signal again, with the number of suppressed ones. */
  #emitHidden(signal: DetectionSignal | undefined): void {
    if (signal !== undefined && signal.eventCount > 1) this.#signals.push(signal);
  }

  #emit(signal: DetectionSignal): void {
    const { matches, isSilent } = chainedMatch(this.#deployment, signal);
    this.#chained.push(...matches);
    if (!isSilent) this.#signals.push(signal);
  }

  #end(timeMs: number): void {
    this.#dueMs = Number.POSITIVE_INFINITY;
    for (const [name, { correlation, of }] of this.#windows) {
      if (!waitsForEnd(correlation.document)) continue;
      for (
        let open = this.#windows.get(name);
        open !== undefined && dueOf(correlation, open.window) <= timeMs;
        open = this.#windows.get(name)
      ) {
        const { window, signal } = endWindow(correlation, open.window, of);
        if (window === undefined) this.#windows.delete(name);
        else this.#windows.set(name, { ...open, window });
        if (signal !== undefined) this.#emit(signal);
      }
      const left = this.#windows.get(name);
      if (left !== undefined) this.#dueMs = Math.min(this.#dueMs, dueOf(correlation, left.window));
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
