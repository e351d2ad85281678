/** A probe: fetches its work, runs each check when it is due, and sends the results. */
import type { EgressPolicy } from '../runtime/egress-policy.ts';
import type { Log } from '../schemas/ports/log.ts';
import type {
  ProbeAlarm,
  ProbePicture,
  ProbeReport,
  ProbeResult,
  UnsupportedType,
  Work,
  WorkItem,
} from '../schemas/synthetic-work.ts';
import { dueStepMs, lastDueAt, nextDueAfter } from '../subjects/synthetics/due-times.ts';
import { type KnownCheck, parseCheck } from '../subjects/synthetics/known.ts';
import { unsupportedTypes } from './abilities.ts';
import { removeAbandoned } from './browser/run-directory.ts';
import type { Pace } from './pace.ts';
import { PictureQueue } from './picture-queue.ts';
import { ResultQueue } from './result-queue.ts';
import { runCheck } from './run-check.ts';
import type { ChromiumOptions } from './runner.ts';

/** The platform from the view of a probe. All methods reject if it does not answer. */
export interface Source {
  /** Returns the work. If the probe sends the digest of its current work, it only receives changes. */
  work(digest: string | undefined, signal: AbortSignal, probeState: ProbeReport): Promise<Work>;
  /** Resolves when the results are durable, or were rejected. */
  send(results: readonly ProbeResult[], signal: AbortSignal): Promise<void>;
  /** Reports runs that failed at their first attempt: other locations retry the same check immediately. */
  alarm(alarms: readonly ProbeAlarm[], signal: AbortSignal): Promise<void>;
  /** Sends the page picture of a run. Without it, no pictures are sent. */
  show?(picture: ProbePicture, signal: AbortSignal): Promise<void>;
}

export interface ProbeOptions {
  readonly source: Source;
  readonly egressPolicy: EgressPolicy;
  /** Shared by the process */
  readonly pace: Pace;
  readonly chromium: ChromiumOptions;
  readonly log: Log;
  /** Interval between requests for work */
  readonly pollMs?: number;
}

export interface RunningProbe {
  stop(): Promise<void>;
}

const defaultPollMs = 2000;
/** How long a probe continues without the platform */
const maxOfflineMs = 3_600_000;

interface ScheduledCheck {
  readonly item: WorkItem;
  readonly check: KnownCheck;
  nextMs: number;
}

class Probe {
  readonly #options: ProbeOptions;
  readonly #stopping = new AbortController();
  readonly #queue: ResultQueue;
  readonly #pictures: PictureQueue;
  readonly #scheduledChecks = new Map<string, ScheduledCheck>();
  readonly #runRequestIds = new Set<string>();
  readonly #running = new Map<string, Promise<void>>();
  /** Checks whose last scheduled run failed: their failures need no further alarm. */
  readonly #failing = new Set<string>();
  #location = '';
  #digest: string | undefined;
  #unsupportedTypes: readonly UnsupportedType[] | undefined;
  /** Offset of the platform's clock relative to ours; unknown before its first answer. */
  #clockOffsetMs: number | undefined;
  #lastAnswerMs = performance.now();
  #isUnavailable = false;

  constructor(options: ProbeOptions) {
    this.#options = options;
    this.#queue = new ResultQueue((results, signal) => options.source.send(results, signal), options.log);
    this.#pictures = new PictureQueue((picture, signal) => options.source.show?.(picture, signal) ?? Promise.resolve());
  }

  start(): RunningProbe {
    const { signal } = this.#stopping;
    // Without browser checks nothing else would remove them.
    void removeAbandoned();
    void this.#poll();
    const polling = setInterval(() => void this.#poll(), this.#options.pollMs ?? defaultPollMs);
    const ticking = setInterval(() => this.#tick(), dueStepMs);
    const sending = this.#queue.run(signal);
    const sendingPictures = this.#pictures.run(signal);
    return {
      stop: async () => {
        clearInterval(polling);
        clearInterval(ticking);
        this.#stopping.abort();
        await Promise.all([...this.#running.values(), sending, sendingPictures]);
      },
    };
  }

  #now(): number {
    return Date.now() + (this.#clockOffsetMs ?? 0);
  }

  #isPolling = false;
  async #poll(): Promise<void> {
    if (this.#isPolling) return;
    this.#isPolling = true;
    try {
      this.#unsupportedTypes ??= await unsupportedTypes(this.#options.chromium);
      const requestStartMs = Date.now();
      const probeState = {
        unsupportedTypes: [...this.#unsupportedTypes],
        ...(this.#clockOffsetMs !== undefined && { clockAheadMs: 0 - this.#clockOffsetMs }),
      };
      const work = await this.#options.source.work(this.#digest, this.#stopping.signal, probeState);
      // Assumes that the platform created the answer halfway through the request.
      this.#clockOffsetMs = Math.round(work.atMs - (requestStartMs + Date.now()) / 2);
      this.#lastAnswerMs = performance.now();
      if (this.#isUnavailable) this.#options.log.info({}, 'the platform answers again');
      this.#isUnavailable = false;
      this.#applyWork(work);
    } catch (error) {
      if (this.#stopping.signal.aborted) return;
      if (!this.#isUnavailable) this.#options.log.warn({ error: String(error) }, 'the platform returns no work');
      this.#isUnavailable = true;
    } finally {
      this.#isPolling = false;
    }
  }

  #applyWork({ location, probes, digest, checks, requestedRuns: runRequests }: Work): void {
    this.#location = location;
    this.#options.pace.setProbeCount(probes);
    if (checks !== null) this.#plan(checks);
    this.#digest = digest;
    for (const item of runRequests) {
      const { requestId: runRequestId = '', requestedAtMs = 0 } = item;
      const check = parseCheck(item.check);
      if (check === undefined || this.#runRequestIds.has(runRequestId)) continue;
      this.#runRequestIds.add(runRequestId);
      this.#startRun(runRequestId, { item, check }, requestedAtMs, runRequestId);
    }
  }

  /** Existing checks retain their next due time, so that none runs twice. */
  #plan(items: readonly WorkItem[]): void {
    const before = new Map(this.#scheduledChecks);
    this.#scheduledChecks.clear();
    for (const item of items) {
      const check = parseCheck(item.check);
      if (check === undefined) continue;
      const previous = before.get(check.id);
      const isSame = previous?.check.every === check.every;
      const nextMs = isSame ? previous.nextMs : nextDueAfter(check, this.#location, this.#now());
      this.#scheduledChecks.set(check.id, { item, check, nextMs });
    }
  }

  #tick(): void {
    const nowMs = this.#now();
    if (performance.now() - this.#lastAnswerMs > maxOfflineMs) return;
    for (const planned of this.#scheduledChecks.values()) {
      if (planned.nextMs > nowMs) continue;
      // Due times that passed while this process slept are skipped: the past cannot be observed.
      const dueMs = lastDueAt(planned.check, this.#location, nowMs);
      planned.nextMs = nextDueAfter(planned.check, this.#location, nowMs);
      // No second run starts while a run takes longer than its interval.
      if (!this.#running.has(planned.check.id)) this.#startRun(planned.check.id, planned, dueMs);
    }
  }

  /** Delivery is not required: the result follows. */
  #alarm(alarm: ProbeAlarm): void {
    const { source, log } = this.#options;
    source.alarm([alarm], this.#stopping.signal).catch((error: unknown) => {
      if (!this.#stopping.signal.aborted)
        log.warn({ error: String(error) }, 'a run at other locations could not be requested');
    });
  }

  #startRun(
    key: string,
    { item, check }: Pick<ScheduledCheck, 'item' | 'check'>,
    dueMs: number,
    runRequestId?: string,
  ): void {
    const { signal } = this.#stopping;
    const aheadMs = this.#clockOffsetMs ?? 0;
    const work = { check, variables: item.variables, location: this.#location };
    const { egressPolicy, pace, chromium } = this.#options;
    const shouldAlarm = runRequestId === undefined && check.locations.length > 1 && !this.#failing.has(check.id);
    const onFailure = (): void => {
      if (shouldAlarm) this.#alarm({ checkId: check.id, dueMs });
    };
    const run = runCheck(work, { egressPolicy, pace, chromium, signal, onFailure })
      .then(({ picture, ...result }) => {
        if (result.outcome === 'failed') this.#failing.add(check.id);
        else if (result.outcome !== 'unknown') this.#failing.delete(check.id);
        const { outcome } = result;
        const run = { checkId: check.id, dueMs, startedAtMs: result.startedAtMs + aheadMs };
        this.#queue.add({
          ...result,
          steps: [...result.steps],
          ...run,
          ...(runRequestId !== undefined && { requestId: runRequestId }),
        });
        // Only for scheduled runs.
        if (picture !== undefined && outcome !== 'unknown' && runRequestId === undefined)
          this.#pictures.add({ ...run, outcome, content: Buffer.from(picture).toString('base64') });
      })
      .catch((error: unknown) => {
        if (!signal.aborted)
          this.#options.log.error({ error: String(error), check: check.id }, 'a check could not be run');
      })
      .finally(() => this.#running.delete(key));
    this.#running.set(key, run);
  }
}

/** Starts a probe. `stop` resolves after the unsent results are sent, if the platform answers. */
export const startProbe = (options: ProbeOptions): RunningProbe => new Probe(options).start();
