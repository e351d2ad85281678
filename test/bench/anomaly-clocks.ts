/**
 * Additional alarms of series that follow a local clock, in the three weeks after it is put forward or back, compared
 * with the same series on a UTC clock. Arguments: `FROM TO` seeds, kinds with commas, and `apart` for series with a
 * single clock change. Prints a table, with UTC in brackets:
 *
 * - alarms; series with no more alarms than by UTC, with one more, and with more than one more;
 * - series with no, one and more alarms in two weeks without an alarm of the UTC series within three hours;
 * - planted changes that are found (spikes, dips and shifts; stillness separately), and CPU-µs per point.
 */
import { type Scored, scoreSeries } from '../../subjects/anomalies/scores/scorer.ts';
import { randomOf } from '../cases/random.ts';
import { changes, day, isSwallowed, kinds, type Series, seriesOf, stepMs, week, withChange } from './anomaly-series.ts';

const [from = 900, to = 902] = process.argv.slice(2, 4).map(Number);
const requestedKinds = process.argv[4]?.split(',') ?? Object.keys(kinds);
const isSeparate = process.argv[5] === 'apart';
const options = { falseAlarmsPerWeek: 0.1 };
const hourMs = 3_600_000;
const perHour = hourMs / stepMs;
const [learning, watched] = [5 * week, 3 * week];
/** The latest point at which a planted change still counts as found. */
const latest = 36;

interface Shift {
  readonly atMs: number;
  readonly by: 1 | -1;
}
interface Zone {
  /** The offset in hours before the clock is put forward. */
  readonly ahead: number;
  readonly forwards: Shift;
  readonly back: Shift;
}
const zoneOf = (ahead: number, forwardsMs: number, backMs: number): Zone => ({
  ahead,
  forwards: { atMs: forwardsMs, by: 1 },
  back: { atMs: backMs, by: -1 },
});
/** Berlin, New York, Sydney and Santiago de Chile. */
const zones: readonly Zone[] = [
  zoneOf(1, Date.UTC(2026, 2, 29, 1), Date.UTC(2026, 9, 25, 1)),
  zoneOf(-5, Date.UTC(2026, 2, 8, 7), Date.UTC(2026, 10, 1, 6)),
  zoneOf(10, Date.UTC(2026, 9, 3, 16), Date.UTC(2027, 3, 3, 16)),
  zoneOf(-4, Date.UTC(2026, 8, 6, 4), Date.UTC(2027, 3, 4, 3)),
];

/** The Monday before a time, on a clock with the given offset in hours. The epoch began on a Thursday. */
const mondayBefore = (ms: number, ahead: number): number => {
  const [mondayMs, weekMs] = [(4 * 24 - ahead) * hourMs, week * stepMs];
  return mondayMs + Math.floor((ms - mondayMs) / weekMs) * weekMs;
};

/** Values by local time. `points` returns those of a range; its end is exclusive. */
interface Local {
  readonly series: Series;
  readonly startMs: number;
  readonly shifts: readonly Shift[];
}
const indexAt = ({ startMs, shifts }: Local, ms: number): number =>
  Math.round((ms - startMs) / stepMs) + perHour * shifts.reduce((sum, { atMs, by }) => sum + (ms >= atMs ? by : 0), 0);
const pointsOf = (local: Local, firstMs: number, lastMs: number, { values } = local.series): [number, number][] =>
  Array.from({ length: Math.round((lastMs - firstMs) / stepMs) }, (_, step) => {
    const ms = firstMs + step * stepMs;
    return [ms, values[indexAt(local, ms)] ?? 0];
  });
const begins = (scored: readonly Scored[]): number[] =>
  scored.flatMap(({ isAnomalous }, i) => (isAnomalous && scored[i - 1]?.isAnomalous !== true ? [i] : []));

interface Counts {
  readonly inSixDays: number;
  readonly inThreeWeeks: number;
  /** Positions in the series at which alarms of two weeks begin. */
  readonly places: readonly number[];
  readonly planted: number;
  readonly found: number;
  readonly still: number;
  readonly stillFound: number;
  readonly cpuUs: number;
}

/** Plants changes in the two weeks after a clock change, and counts those found within three hours. */
const plant = (
  local: Local,
  trainedState: Uint8Array,
  seed: number,
  atMs: number,
  names: readonly string[],
): { planted: number; found: number } => {
  const random = randomOf(seed + 7);
  let [planted, found] = [0, 0];
  for (const change of changes.filter(({ name }) => names.includes(name))) {
    const plantedMs = atMs + Math.floor((1 + 12 * random()) * day) * stepMs;
    const at = indexAt(local, plantedMs);
    const values = withChange(local.series, change, at, seed);
    if (isSwallowed(local.series, values, change, at)) continue;
    const points = pointsOf(local, atMs, plantedMs + latest * stepMs, { ...local.series, values });
    const { scored } = scoreSeries(points, options, trainedState);
    planted++;
    found += Number(begins(scored).some((index) => index >= scored.length - latest));
  }
  return { planted, found };
};

/** Counts after the last of some clock changes. */
const countsOf = (kind: string, seed: number, ahead: number, all: readonly Shift[], isLocal: boolean): Counts => {
  const startMs = mondayBefore((all[0]?.atMs ?? 0) - learning * stepMs, ahead);
  const atMs = all.at(-1)?.atMs ?? 0;
  const endMs = atMs + watched * stepMs;
  const series = seriesOf(kind, seed, Math.round((endMs - startMs) / stepMs) + day);
  const local = { series, startMs, shifts: isLocal ? all : [] };
  const trainedState = scoreSeries(pointsOf(local, startMs, atMs), options).state;
  const known = Uint8Array.from(trainedState);
  const points = pointsOf(local, atMs, endMs);
  const before = process.cpuUsage();
  const alarms = begins(scoreSeries(points, options, trainedState).scored);
  const { user, system } = process.cpuUsage(before);
  const { planted: still, found: stillFound } = plant(local, known, seed, atMs, ['flat']);
  return {
    inSixDays: alarms.filter((index) => index < 6 * day).length,
    inThreeWeeks: alarms.length,
    places: alarms.filter((index) => index < 2 * week).map((index) => indexAt(local, atMs + index * stepMs)),
    ...plant(local, known, seed, atMs, ['spike', 'dip', 'shiftUp', 'shiftDown']),
    still,
    stillFound,
    cpuUs: user + system,
  };
};

const sum = (all: readonly Counts[], of: Exclude<keyof Counts, 'places'>): number =>
  all.reduce((total, counts) => total + counts[of], 0);
/** Counts of a kind of series by the local clock, and of the same series by UTC. */
const measured = (kind: string, way: 'forwards' | 'back'): { local: Counts[]; utc: Counts[] } => {
  const [local, utc]: [Counts[], Counts[]] = [[], []];
  for (const { ahead, forwards, back } of zones) {
    const both = way === 'back' && !isSeparate ? [forwards, back] : [way === 'back' ? back : forwards];
    const before = way === 'back' && isSeparate ? ahead + 1 : ahead;
    for (let seed = from; seed < to; seed++) {
      local.push(countsOf(kind, seed, before, both, true));
      utc.push(countsOf(kind, seed, before, both, false));
    }
  }
  return { local, utc };
};

const rowOf = (kind: string, way: 'forwards' | 'back'): Record<string, string | number> => {
  const { local, utc } = measured(kind, way);
  const beyond = local.map(({ inThreeWeeks }, index) => inThreeWeeks - (utc[index]?.inThreeWeeks ?? 0));
  const own = local.map(({ places }, index) => {
    const known = utc[index]?.places ?? [];
    return places.filter((place) => !known.some((other) => Math.abs(other - place) <= latest)).length;
  });
  return {
    kind,
    way,
    series: local.length,
    'in 6 days': `${sum(local, 'inSixDays')} (${sum(utc, 'inSixDays')})`,
    'in 3 weeks': `${sum(local, 'inThreeWeeks')} (${sum(utc, 'inThreeWeeks')})`,
    'no more': beyond.filter((more) => more <= 0).length,
    'once more': beyond.filter((more) => more === 1).length,
    more: beyond.filter((more) => more > 1).length,
    most: Math.max(...beyond),
    'own in 2 weeks': [0, 1, 2].map((times) => own.filter((found) => Math.min(2, found) === times).length).join(', '),
    found: `${sum(local, 'found')}/${sum(local, 'planted')} (${sum(utc, 'found')}/${sum(utc, 'planted')})`,
    still: `${sum(local, 'stillFound')}/${sum(local, 'still')} (${sum(utc, 'stillFound')}/${sum(utc, 'still')})`,
    cpuUs: Math.round((10 * (sum(local, 'cpuUs') + sum(utc, 'cpuUs'))) / (2 * local.length * watched)) / 10,
  };
};
console.table(requestedKinds.flatMap((kind) => [rowOf(kind, 'forwards'), rowOf(kind, 'back')]));
