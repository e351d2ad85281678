/** Unit names of Grafana and OIQ. Other units keep their names. */
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
  // A Grafana name that is a different unit in OIQ would not survive a round trip.
  read: (value) =>
    typeof value === 'string' &&
    value !== '' &&
    value.length <= 64 &&
    (Object.hasOwn(unitsByGrafanaName, value) || !grafanaNamesByUnit.has(value))
      ? (unitsByGrafanaName[value] ?? value)
      : undefined,
  write: (value) => grafanaNamesByUnit.get(value as string) ?? value,
};
