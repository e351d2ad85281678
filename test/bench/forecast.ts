/**
 * The quality of forecasts: OWA (the mean of sMAPE and MASE, each relative to those of seasonal naive), the share of
 * values within intervals, and CPU time. Arguments: `FROM TO` seeds of generated hourly series, or `FILE...` with one
 * value a line. Prints one line of JSON.
 */
import { readFileSync } from 'node:fs';
import { forecast } from '../../queries/forecast/forecast.ts';
import { hourlySeries } from './hourly-series.ts';

const [horizon, season] = [48, 24];
const files = process.argv.slice(2).filter((argument) => !/^\d+$/.test(argument));
const [from, to] = process.argv.slice(2).map(Number);
const own = (): number[][] =>
  Array.from({ length: (to ?? 40) - (from ?? 0) }, (_, index) => hourlySeries((from ?? 0) + index, 1048));
const windows = (values: readonly number[]): number[][] =>
  Array.from({ length: Math.min(40, Math.floor((values.length - 1000) / horizon)) }, (_, index) =>
    values.slice(index * horizon, index * horizon + 1000 + horizon),
  );
const all =
  files.length === 0
    ? own()
    : files.flatMap((file) => windows(readFileSync(file, 'utf8').trim().split('\n').map(Number)));

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
const sMape = (truth: readonly number[], predicted: readonly number[]): number =>
  sum(
    truth.map(
      (value, i) => (2 * Math.abs(value - (predicted[i] ?? 0))) / (Math.abs(value) + Math.abs(predicted[i] ?? 0) || 1),
    ),
  );
const mase = (truth: readonly number[], predicted: readonly number[], scale: number): number =>
  sum(truth.map((value, i) => Math.abs(value - (predicted[i] ?? 0)))) / scale;

const figures = { sMape: 0, mase: 0, naiveSMape: 0, naiveMase: 0, in80: 0, in95: 0, values: 0 };
const before = process.cpuUsage();
for (const series of all) {
  const [past, truth] = [series.slice(0, -horizon), series.slice(-horizon)];
  const prediction = forecast(past, { horizon, periods: [24, 168], kind: 'count' });
  if (prediction === undefined) continue;
  const naive = truth.map((_, lead) => past[past.length - season + (lead % season)] ?? 0);
  const scale =
    sum(past.slice(season).map((value, i) => Math.abs(value - (past[i] ?? 0)))) / (past.length - season) || 1;
  figures.sMape += sMape(truth, prediction.values);
  figures.naiveSMape += sMape(truth, naive);
  figures.mase += mase(truth, prediction.values, scale);
  figures.naiveMase += mase(truth, naive, scale);
  const [eighty, ninetyFive] = [prediction.intervals(0.8), prediction.intervals(0.95)];
  const holds = (interval: readonly [number, number] | undefined, value: number): boolean =>
    interval !== undefined && interval[0] <= value && value <= interval[1];
  figures.in80 += truth.filter((value, lead) => holds(eighty[lead], value)).length;
  figures.in95 += truth.filter((value, lead) => holds(ninetyFive[lead], value)).length;
  figures.values += truth.length;
}
const { user, system } = process.cpuUsage(before);
const three = (value: number): number => Math.round(value * 1000) / 1000;
console.log(
  JSON.stringify({
    series: all.length,
    owa: three((figures.sMape / figures.naiveSMape + figures.mase / figures.naiveMase) / 2),
    in80: three(figures.in80 / figures.values),
    in95: three(figures.in95 / figures.values),
    cpuMsEach: three((user + system) / 1000 / all.length),
  }),
);
