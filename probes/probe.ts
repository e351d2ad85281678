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
import { dueStepMs, findLastDueMs, findNextDueMs } from '../subjects/synthetics/due-times.ts';
import { type IdentifiedCheck, parseCheck } from '../subjects/synthetics/read-checks.ts';
import { findUnsupportedTypes } from './abilities.ts';
import { removeAbandoned } from './browser/run-directory.ts';
import type { RateLimiter } from './pace.ts';
import { PictureQueue } from './picture-queue.ts';
import { ResultQueue } from './result-queue.ts';
import { runCheck } from './run-check.ts';
import type { ChromiumOptions } from './runner.ts';

/** The platform, as a probe sees it. All methods reject if the platform does not respond. */
export interface WorkSource {
  /** Returns the work. If the probe sends the digest of its current work, it only receives changes. */
  fetchWork(digest: string | undefined, signal: AbortSignal, probeState: ProbeReport): Promise<Work>;
  /** Resolves when the results are durable, or were rejected. */
  send(results: readonly ProbeResult[], signal: AbortSignal): Promise<void>;
  /** Reports runs that failed at their first attempt: other locations retry the same check immediately. */
  sendAlarms(alarms: readonly ProbeAlarm[], signal: AbortSignal): Promise<void>;
  /** Sends the page screenshot of a run. Without this method, no screenshots are sent. */
  sendScreenshot?(picture: ProbePicture, signal: AbortSignal): Promise<void>;
}

export interface ProbeOptions {
  readonly source: WorkSource;
  readonly egressPolicy: EgressPolicy;
  /** Shared by the process */
  readonly pace: RateLimiter;
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
  readonly check: IdentifiedCheck;
  nextMs: number;
}

class Probe {
  readonly #options: ProbeOptions;
  readonly #stopController = new AbortController();
  readonly #queue: ResultQueue;
  readonly #pictures: PictureQueue;
  readonly #scheduledChecks = new Map<string, ScheduledCheck>();
  readonly #runRequestIds = new Set<string>();
  readonly #activeRuns = new Map<string, Promise<void>>();
  /** Checks whose last scheduled run failed: their failures need no further alarm. */
  readonly #failingCheckIds = new Set<string>();
  #location = '';
  #digest: string | undefined;
  #unsupportedTypes: readonly UnsupportedType[] | undefined;
  /** Offset of the platform's clock from the local clock; unknown before the first response. */
  #clockOffsetMs: number | undefined;
  #lastResponseMs = performance.now();
  #isUnavailable = false;

  constructor(options: ProbeOptions) {
    this.#options = options;
    this.#queue = new ResultQueue((results, signal) => options.source.send(results, signal), options.log);
    this.#pictures = new PictureQueue(
      (picture, signal) => options.source.sendScreenshot?.(picture, signal) ?? Promise.resolve(),
    );
  }

  start(): RunningProbe {
    const { signal } = this.#stopController;
    // Removes the directories of dead runs, because without browser checks nothing else would.
    void removeAbandoned();
    void this.#poll();
    const pollTimer = setInterval(() => void this.#poll(), this.#options.pollMs ?? defaultPollMs);
    const tickTimer = setInterval(() => this.#tick(), dueStepMs);
    const sending = this.#queue.run(signal);
    const sendingPictures = this.#pictures.run(signal);
    return {
      stop: async () => {
        clearInterval(pollTimer);
        clearInterval(tickTimer);
        this.#stopController.abort();
        await Promise.all([...this.#activeRuns.values(), sending, sendingPictures]);
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
      this.#unsupportedTypes ??= await findUnsupportedTypes(this.#options.chromium);
      const requestStartMs = Date.now();
      const probeState = {
        unsupportedTypes: [...this.#unsupportedTypes],
        ...(this.#clockOffsetMs !== undefined && { clockAheadMs: 0 - this.#clockOffsetMs }),
      };
      const work = await this.#options.source.fetchWork(this.#digest, this.#stopController.signal, probeState);
      // Assumes that the platform created the response halfway through the request.
      this.#clockOffsetMs = Math.round(work.atMs - (requestStartMs + Date.now()) / 2);
      this.#lastResponseMs = performance.now();
      if (this.#isUnavailable) this.#options.log.info({}, 'the platform answers again');
      this.#isUnavailable = false;
      this.#applyWork(work);
    } catch (error) {
      if (this.#stopController.signal.aborted) return;
      if (!this.#isUnavailable) this.#options.log.warn({ error: String(error) }, 'the platform returns no work');
      this.#isUnavailable = true;
    } finally {
      this.#isPolling = false;
    }
  }

  #applyWork({ location, probes, digest, checks, requestedRuns: runRequests }: Work): void {
    this.#location = location;
    this.#options.pace.setProbeCount(probes);
    if (checks !== null) this.#schedule(checks);
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
  #schedule(items: readonly WorkItem[]): void {
    const previousChecks = new Map(this.#scheduledChecks);
    this.#scheduledChecks.clear();
    for (const item of items) {
      const check = parseCheck(item.check);
      if (check === undefined) continue;
      const previous = previousChecks.get(check.id);
      const isSame = previous?.check.every === check.every;
      const nextMs = isSame ? previous.nextMs : findNextDueMs(check, this.#location, this.#now());
      this.#scheduledChecks.set(check.id, { item, check, nextMs });
    }
  }

  #tick(): void {
    const nowMs = this.#now();
    if (performance.now() - this.#lastResponseMs > maxOfflineMs) return;
    for (const scheduled of this.#scheduledChecks.values()) {
      if (scheduled.nextMs > nowMs) continue;
      // Due times that passed while this process slept are skipped: the past cannot be observed.
      const dueMs = findLastDueMs(scheduled.check, this.#location, nowMs);
      scheduled.nextMs = findNextDueMs(scheduled.check, this.#location, nowMs);
      // No second run starts while a run takes longer than its interval.
      if (!this.#activeRuns.has(scheduled.check.id)) this.#startRun(scheduled.check.id, scheduled, dueMs);
    }
  }

  /** Sends an alarm. A lost alarm is acceptable, because the result follows. */
  #alarm(alarm: ProbeAlarm): void {
    const { source, log } = this.#options;
    source.sendAlarms([alarm], this.#stopController.signal).catch((error: unknown) => {
      if (!this.#stopController.signal.aborted)
        log.warn({ error: String(error) }, 'a run at other locations could not be requested');
    });
  }

  #startRun(
    key: string,
    { item, check }: Pick<ScheduledCheck, 'item' | 'check'>,
    dueMs: number,
    runRequestId?: string,
  ): void {
    const { signal } = this.#stopController;
    const clockOffsetMs = this.#clockOffsetMs ?? 0;
    const work = { check, variables: item.variables, location: this.#location };
    const { egressPolicy, pace, chromium } = this.#options;
    const shouldAlarm =
      runRequestId === undefined && check.locations.length > 1 && !this.#failingCheckIds.has(check.id);
    const onFailure = (): void => {
      if (shouldAlarm) this.#alarm({ checkId: check.id, dueMs });
    };
    const run = runCheck(work, {
      egressPolicy,
      pace,
      chromium,
      signal,
      hasExchanges: runRequestId !== undefined,
      onFailure,
    })
      .then(({ picture, ...result }) => {
        if (result.outcome === 'failed') this.#failingCheckIds.add(check.id);
        else if (result.outcome !== 'unknown') this.#failingCheckIds.delete(check.id);
        const { outcome } = result;
        const runFields = { checkId: check.id, dueMs, startedAtMs: result.startedAtMs + clockOffsetMs };
        this.#queue.add({
          ...result,
          steps: [...result.steps],
          ...runFields,
          ...(runRequestId !== undefined && { requestId: runRequestId }),
        });
        // Only for scheduled runs.
        if (picture !== undefined && outcome !== 'unknown' && runRequestId === undefined)
          this.#pictures.add({ ...runFields, outcome, content: Buffer.from(picture).toString('base64') });
      })
      .catch((error: unknown) => {
        if (!signal.aborted)
          this.#options.log.error({ error: String(error), check: check.id }, 'a check could not be run');
      })
      .finally(() => this.#activeRuns.delete(key));
    this.#activeRuns.set(key, run);
  }
}

/** Starts a probe. `stop` resolves after the unsent results are sent, if the platform responds. */
export const startProbe = (options: ProbeOptions): RunningProbe => new Probe(options).start();
