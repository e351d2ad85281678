/**
 * The quality of the scorer over ten kinds of series: false alarms per series and week without planted changes, planted
 * changes that are found with the median delay in points, and CPU time. Arguments: `FROM TO` seeds. Prints a table of
 * kinds and one line of JSON.
 */
import { type Scored, scoreSeries } from '../../subjects/anomalies/scores/scorer.ts';
import { randomOf } from '../cases/random.ts';
import {
  changes,
  day,
  isSwallowed,
  kinds,
  pointsOf,
  type Series,
  seriesOf,
  week,
  withChange,
} from './anomaly-series.ts';

const [from = 0, to = 4] = process.argv.slice(2).map(Number);
const options = { falseAlarmsPerWeek: 0.1 };
const [learning, watched] = [4 * week, 2 * week];
/** The latest points at which a change still counts as found. */
const latest: Readonly<Record<string, number>> = { spike: 3, dip: 3, shiftUp: 36, shiftDown: 36, noise: 36 };

const begins = (scored: readonly Scored[]): number[] =>
  scored.flatMap(({ isAnomalous }, i) => (isAnomalous && scored[i - 1]?.isAnomalous !== true ? [i] : []));
const hundredths = (value: number): number => Math.round(value * 100) / 100;

interface Figure {
  all: number;
  readonly delays: number[];
}
const totals: Record<string, Figure> = {};
let [alarms, cpuUs, scoredPoints] = [0, 0, 0];

/** Plants each change at a random position, and records whether and when it is found. */
const plant = (series: Series, trainedState: Uint8Array, seed: number, own: Record<string, Figure>): void => {
  const random = randomOf(seed + 99);
  for (const change of changes) {
    const at = learning + day + Math.floor(random() * 8 * day);
    const values = withChange(series, change, at, seed);
    if (isSwallowed(series, values, change, at)) continue;
    const { scored } = scoreSeries(pointsOf(values, learning, at + change.lasts + 12), options, trainedState);
    const first = begins(scored).find((index) => index >= at - learning);
    const delay = first === undefined ? undefined : first - (at - learning);
    for (const figures of [totals, own]) {
      const figure = figures[change.name] ?? { all: 0, delays: [] };
      figures[change.name] = figure;
      figure.all++;
      if (delay !== undefined && delay <= (latest[change.name] ?? change.lasts)) figure.delays.push(delay);
    }
  }
};

const rows = Object.keys(kinds).map((kind) => {
  const own: Record<string, Figure> = {};
  let found = 0;
  for (let seed = from; seed < to; seed++) {
    const series = seriesOf(kind, seed, learning + watched);
    const before = process.cpuUsage();
    const training = scoreSeries(pointsOf(series.values, 0, learning), options);
    const clean = scoreSeries(pointsOf(series.values, learning, learning + watched), options, training.state);
    const { user, system } = process.cpuUsage(before);
    cpuUs += user + system;
    scoredPoints += learning + watched;
    found += begins(clean.scored).length;
    plant(series, training.state, seed, own);
  }
  alarms += found;
  const shares = Object.entries(own).map(([name, { all, delays }]) => [name, `${delays.length}/${all}`]);
  return { kind, falsePerWeek: hundredths(found / ((to - from) * 2)), ...Object.fromEntries(shares) };
});
console.table(rows);
const summary = Object.entries(totals).map(([name, { all, delays }]) => {
  const delay = delays.toSorted((one, other) => one - other)[delays.length >> 1] ?? null;
  return [name, { found: hundredths(delays.length / all), of: all, delay }];
});
console.log(
  JSON.stringify({
    falsePerWeek: hundredths(alarms / (rows.length * (to - from) * 2)),
    ...Object.fromEntries(summary),
    cpuUsEach: hundredths(cpuUs / scoredPoints),
  }),
);
