import type { LogPattern, ParameterValues, SeverityLevel } from '../../schemas/log-patterns.ts';
import { severityLevels } from '../../schemas/log-patterns.ts';
import type { LogRecord } from '../../schemas/records/log-record.ts';
import { getSeverityNumber } from '../../schemas/records/severity.ts';
import { logRecords } from '../../schemas/records/sources.ts';
import { topics } from '../../schemas/topics.ts';
import { defineProcessor, type StateDefinition } from '../engine/definition.ts';
import { combinedState } from '../engine/state.ts';
import { type AddResult, Miner } from './miner.ts';
import { MinuteCounts, minuteMs } from './minutes.ts';
import type { Pattern } from './pattern.ts';

const dayMs = 86_400_000;
/** Maximum number of counts in memory; above it all are emitted, and later ones are emitted as additional rows. */
const maxCounts = 200_000;
/** Late records are counted in batches of this length. */
const batchMs = 30_000;
/** A minute that is further ahead of the clock than this is emitted in parts. */
const maxAheadMs = 5 * minuteMs;
/** Maximum time that the table can store. */
const maxStoredMs = 4_294_967_295_000;
const maxSampleLength = 1_024;
/** Bytes of a pattern, with its values (`test/bench/log-pattern-cost.ts`). */
const patternBytes = 2_300;

const minerState: StateDefinition<Miner> = {
  version: 1,
  open: (saved) => (saved === undefined ? undefined : Miner.restore(saved)) ?? new Miner(),
  save: (state) => state.serialize(),
  size: ({ size: { patterns, scopes, evicted } }) => ({
    entries: patterns + scopes,
    bytes: (patterns + scopes) * patternBytes,
    evicted,
  }),
};

const minutesState: StateDefinition<MinuteCounts> = {
  version: 1,
  open: (saved) =>
    saved === undefined ? new MinuteCounts() : MinuteCounts.restore(JSON.parse(Buffer.from(saved).toString())),
  save: (state) => Buffer.from(JSON.stringify(state.serialize())),
  size: ({ entries, bytes }) => ({ entries, bytes, evicted: 0 }),
};

/** Returns the severity level of the number, which may also be in the text. */
const getSeverityLevel = (record: Pick<LogRecord, 'severityNumber' | 'severityText'>): SeverityLevel =>
  severityLevels[Math.ceil(getSeverityNumber(record) / 4)] ?? 'unspecified';

/** Returns the parameters. Keys name the fields of JSON and logfmt, and `1`, `2` … the variables of the text. */
const toParameters = (pattern: Pattern): ParameterValues[] => {
  const { hashes, values } = pattern;
  const variables = [...hashes.keys()].filter((position) => !pattern.isWord(position)).map(String);
  return [...values].map(([name, variable]) => {
    const { observed, top, distinct = null, numbers, min, max } = variable.summarize();
    const number = variables.indexOf(name) + 1;
    const hasNumbers = numbers > 0;
    return {
      name: number === 0 ? name : String(number),
      seen: observed,
      distinct,
      numbers,
      top: top.map(([value, minCount]): [string, number] => [value, minCount]),
      min: hasNumbers ? min : null,
      max: hasNumbers ? max : null,
    };
  });
};

const isPowerOfTwo = (count: number): boolean => (count & (count - 1)) === 0;

/**
 * Returns whether a pattern must be reported: it is new, others were merged into it, its count has doubled, or a day
 * has passed.
 */
const shouldReport = ({ isNew, merged, pattern }: AddResult, day: number): boolean =>
  isNew || merged.length > 0 || pattern.reportedDay !== day || (pattern.count >= 4 && isPowerOfTwo(pattern.count));

const toFoundPattern = (record: LogRecord, { id, merged, pattern }: AddResult): LogPattern => ({
  tenantId: record.tenantId,
  service: record.service,
  patternId: id,
  template: pattern.template,
  structure: pattern.structure,
  places: [...pattern.hashes],
  shard: record.location.partition,
  firstSeen: new Date(Math.min(record.timeMs, record.receivedAtMs)).toISOString(),
  seenAt: new Date(record.receivedAtMs).toISOString(),
  count: pattern.count,
  sample: record.body.slice(0, maxSampleLength),
  merged: [...merged],
  parameters: toParameters(pattern),
});

/** Assigns a pattern to each log body, reports patterns, and counts them by minute. */
export const logPatterns = defineProcessor({
  name: 'log-patterns',
  summary: 'Groups log bodies by pattern, and counts them by minute, service and severity.',
  reads: logRecords,
  emits: { found: topics.logPatterns, counted: topics.logPatternCounts },
  entitlement: 'logs',
  state: combinedState(1, { miner: minerState, minutes: minutesState }),
  // Late records are counted as well, slightly later.
  latenessMs: 15_000,
  // The miner has its own limits; this exceeds their sum.
  limits: { stateBytes: 96 * 1024 * 1024 },

  step(record, { state, emit, clockMs, watermarkMs, setTimer, tenantId }) {
    const { service } = record;
    const addResult = state.miner.add(service, record);
    const day = Math.floor(clockMs / dayMs);
    if (shouldReport(addResult, day)) {
      addResult.pattern.reportedDay = day;
      emit.found(toFoundPattern(record, addResult));
    }
    const startMs = Math.floor(Math.min(record.timeMs, maxStoredMs) / minuteMs) * minuteMs;
    const dimensions = { projectId: record.projectId, service, severity: getSeverityLevel(record) };
    // A minute that is hours ahead does not wait until then.
    const endMs = Math.min(startMs + minuteMs, clockMs + maxAheadMs);
    if (state.minutes.add(startMs, dimensions, addResult.id))
      setTimer('watermark', Math.max(endMs, watermarkMs + batchMs), String(startMs));
    if (state.minutes.entries >= maxCounts)
      for (const count of state.minutes.drain()) emit.counted({ tenantId, ...count });
  },

  timer({ key }, { state, emit, tenantId }) {
    for (const count of state.minutes.drain(Number(key) + minuteMs)) emit.counted({ tenantId, ...count });
  },
});
