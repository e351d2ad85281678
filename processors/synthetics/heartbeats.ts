/** Creates runs from heartbeats, both received and missed. */

import type { StoredMetadata } from '../../schemas/ports/documents.ts';
import { createItemSource } from '../../schemas/records/values.ts';
import { maxChecks, type StoredCheck, syntheticChecks } from '../../schemas/resources/synthetic-check.ts';
import { maxSilenceMs } from '../../schemas/synthetic-heartbeats.ts';
import { topics } from '../../schemas/topics.ts';
import { heartbeatLocation } from '../../subjects/synthetics/check.ts';
import {
  applyHeartbeat,
  evaluateHeartbeats,
  type HeartbeatRun,
  type HeartbeatState,
  initialHeartbeatState,
  stopMonitoring,
} from '../../subjects/synthetics/heartbeats.ts';
import { type IdentifiedCheck, parseCheck } from '../../subjects/synthetics/read-checks.ts';
import type { TimePeriod } from '../../subjects/synthetics/uptime.ts';
import { defineProcessor } from '../engine/definition.ts';
import { combinedState, keyedState, type LruMap } from '../engine/state.ts';

/** Time up to which all heartbeats have been read, and gaps in their reception. */
interface ReceptionState {
  readonly atMs: number;
  readonly gaps: readonly TimePeriod[];
}

/** Maximum number of remembered gaps: the latest ones. */
const maxGaps = 50;
/** Heartbeats may arrive before their check is known here; those of a deleted check are forgotten after this time. */
const forgetAfterMs = 3_600_000;
/** Maximum number of tracked heartbeats per organization: its limit of checks, and some deleted ones. */
const maxTracked = maxChecks + 200;

const checkCache = new WeakMap<object, IdentifiedCheck | undefined>();

/** Returns a check, parsed once per version; undefined if this version cannot parse it. */
const parseCheckOnce = (stored: StoredCheck & StoredMetadata): IdentifiedCheck | undefined => {
  if (!checkCache.has(stored)) checkCache.set(stored, parseCheck(stored));
  return checkCache.get(stored);
};

/** Records that heartbeats are received. After a long time without this record, a gap precedes it. */
const recordListening = (receptions: LruMap<ReceptionState>, receivedMs: number): ReceptionState => {
  const previous = receptions.get('') ?? { atMs: receivedMs, gaps: [] };
  const atMs = Math.max(previous.atMs, receivedMs);
  const isGap = atMs - previous.atMs > maxSilenceMs;
  const gaps = isGap ? [...previous.gaps, { fromMs: previous.atMs, toMs: atMs }].slice(-maxGaps) : previous.gaps;
  const next = { atMs, gaps };
  receptions.set('', next);
  return next;
};

const isExpired = ({ baseMs, answeredMs }: HeartbeatState, nowMs: number): boolean =>
  nowMs - Math.max(baseMs, answeredMs) > forgetAfterMs;

const state = combinedState(1, {
  listening: keyedState<ReceptionState>({ version: 1, maxEntries: 1 }),
  checks: keyedState<HeartbeatState>({ version: 1, maxEntries: maxTracked }),
});
type State = ReturnType<typeof state.open>;

interface CheckContext {
  readonly state: State;
  readonly stored: ReadonlyMap<string, StoredCheck & StoredMetadata>;
  emitRuns(checkId: string, projectId: string, runs: readonly HeartbeatRun[]): void;
}

/** Evaluates all enabled heartbeat checks; returns their IDs. */
const evaluateChecks = (
  { state: { checks }, stored, emitRuns }: CheckContext,
  { atMs, gaps }: ReceptionState,
): ReadonlySet<string> => {
  const evaluatedIds = new Set<string>();
  for (const [id, document] of stored) {
    const check = document.type === 'heartbeat' && document.enabled ? parseCheckOnce(document) : undefined;
    if (check?.heartbeat === undefined) continue;
    evaluatedIds.add(id);
    const previous = checks.get(id) ?? initialHeartbeatState;
    const expected = { every: check.every, heartbeat: check.heartbeat };
    const createdMs = Date.parse(document.createdAt);
    const { nextState: checkHeartbeats, runs } = evaluateHeartbeats(previous, expected, {
      nowMs: atMs,
      gaps,
      createdMs,
    });
    if (checkHeartbeats !== previous) checks.set(id, checkHeartbeats);
    emitRuns(id, check.projectId ?? '', runs);
  }
  return evaluatedIds;
};

/** Ends the tracking of disabled heartbeats, and forgets deleted ones. */
const stopOtherChecks = (
  { state: { checks }, stored }: CheckContext,
  evaluatedIds: ReadonlySet<string>,
  nowMs: number,
): void => {
  for (const [id, checkHeartbeats] of [...checks.entries()]) {
    if (evaluatedIds.has(id)) continue;
    if (!stored.has(id) && isExpired(checkHeartbeats, nowMs)) checks.delete(id);
    else if (checkHeartbeats.watchedBy !== null) checks.set(id, stopMonitoring(checkHeartbeats));
  }
};

export const heartbeats = defineProcessor({
  name: 'heartbeats',
  summary: 'Creates runs from heartbeats of jobs, including missed ones.',
  reads: createItemSource(topics.syntheticHeartbeats),
  emits: { runs: topics.syntheticRuns },
  follows: { checks: syntheticChecks },
  state,
  step(item, context) {
    const { tenantId, emit, follows, state: processorState } = context;
    const checkContext: CheckContext = {
      state: processorState,
      stored: follows.checks,
      emitRuns(checkId, projectId, runs) {
        const stored = follows.checks.get(checkId);
        const check = stored && parseCheckOnce(stored);
        const checkFields = { checkName: check?.name ?? '', checkType: 'heartbeat', labels: check?.labels ?? {} };
        for (const run of runs)
          emit.runs({
            ...checkFields,
            tenantId,
            projectId,
            checkId,
            location: heartbeatLocation,
            isManual: false,
            attempts: 1,
            acceptedMs: run.toldMs,
            phases: {},
            steps: [],
            traceId: '',
            ...run,
          });
      },
    };
    if (item.kind === 'pulse') {
      const reception = recordListening(processorState.listening, item.receivedMs);
      return stopOtherChecks(checkContext, evaluateChecks(checkContext, reception), reception.atMs);
    }
    const previous = processorState.checks.get(item.checkId) ?? initialHeartbeatState;
    const { nextState: checkHeartbeats, runs } = applyHeartbeat(previous, item);
    if (checkHeartbeats === previous) return context.drop('repeat');
    processorState.checks.set(item.checkId, checkHeartbeats);
    return checkContext.emitRuns(item.checkId, item.projectId, runs);
  },
});
