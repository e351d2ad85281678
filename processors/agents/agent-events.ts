import type { z } from 'zod';
import { createItemSource } from '../../schemas/records/values.ts';
import { topics } from '../../schemas/topics.ts';
import { addReport, getReportMs, observeReport } from '../../subjects/agents/activity.ts';
import {
  BootState,
  ContactState,
  EarlyEvent,
  PendingReport,
  ProcessState,
  SessionState,
  TreeState,
} from '../../subjects/agents/states.ts';
import { defineProcessor } from '../engine/definition.ts';
import { combinedState, keyedState } from '../engine/state.ts';

/**
 * Delay after which reports are sorted by time, because sources report events of the same time with different delays.
 */
const waitMs = 3_000;
const turnMs = 1_000;

const state = combinedState(1, {
  pending: keyedState({ version: 1, maxEntries: 200_000, schema: PendingReport }),
  boots: keyedState({ version: 1, maxEntries: 10_000, schema: BootState }),
  processes: keyedState({ version: 1, maxEntries: 100_000, schema: ProcessState }),
  trees: keyedState({ version: 1, maxEntries: 10_000, schema: TreeState }),
  sessions: keyedState({ version: 1, maxEntries: 5_000, schema: SessionState }),
  contacts: keyedState({ version: 1, maxEntries: 5_000, schema: ContactState }),
  early: keyedState({ version: 1, maxEntries: 5_000, schema: EarlyEvent }),
});

/** Time at which a report is processed, rounded so that there is at most one timer per second. */
const computeDueMs = (clockMs: number): number => (Math.floor((clockMs + waitMs) / turnMs) + 1) * turnMs;

/**
 * Assigns reports about agents to processes, sessions and turns, and links effects of processes to requests of models.
 * All reports of a host are in one partition.
 */
export const agentEvents = defineProcessor({
  name: 'agent-events',
  summary: 'Places events of agents in processes, sessions and turns, and links effects to tool calls.',
  reads: createItemSource(topics.agentReports),
  emits: { events: topics.agentEvents },
  entitlement: 'agentsight',
  state,
  limits: { stateBytes: 512 * 1024 * 1024 },
  step(report, { state: stores, clockMs, setTimer, emit }) {
    observeReport(report, stores);
    // Raw traffic and measurements are frequent, and their order does not matter.
    if (report.kind === 'tls' || report.kind === 'system') {
      addReport(report, getReportMs(report, stores), { stores, emit: emit.events });
      return;
    }
    const dueMs = computeDueMs(clockMs);
    stores.pending.set(report.id, { dueMs, report });
    setTimer('clock', dueMs, String(dueMs));
  },
  timer(_, { state: stores, clockMs, emit }) {
    const due: { readonly timeMs: number; readonly report: z.output<typeof PendingReport>['report'] }[] = [];
    for (const [key, { dueMs, report }] of stores.pending.entries()) {
      if (dueMs > clockMs) break;
      stores.pending.delete(key);
      due.push({ timeMs: getReportMs(report, stores), report });
    }
    due.sort((left, right) => left.timeMs - right.timeMs);
    for (const { timeMs, report } of due) addReport(report, timeMs, { stores, emit: emit.events });
  },
});
