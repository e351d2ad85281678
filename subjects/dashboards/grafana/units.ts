/** Converts unit names between Grafana and OIQ. Other units keep their names. */
import type { Codec } from './lens.ts';

const unitsByGrafanaName: Readonly<Record<string, string>> = {
  bytes: 'By',
  bits: 'bit',
  ms: 'ms',
  s: 's',
  ns: 'ns',
  µs: 'us',
  m: 'min',
  percent: '%',
  celsius: 'Cel',
  hertz: 'Hz',
  reqps: '{request}/s',
  ops: '{operation}/s',
  rps: '{read}/s',
  wps: '{write}/s',
  pps: '{packet}/s',
  cps: '{count}/s',
  binBps: 'By/s',
  binbps: 'bit/s',
};
const grafanaNamesByUnit = new Map(Object.entries(unitsByGrafanaName).map(([theirs, ours]) => [ours, theirs]));

export const unit: Codec = {
  // A name that means another unit in OIQ than in Grafana is not converted, because it would change in a round trip.
  read: (value) =>
    typeof value === 'string' &&
    value !== '' &&
    value.length <= 64 &&
    (Object.hasOwn(unitsByGrafanaName, value) || !grafanaNamesByUnit.has(value))
      ? (unitsByGrafanaName[value] ?? value)
      : undefined,
  write: (value) => grafanaNamesByUnit.get(value as string) ?? value,
};
