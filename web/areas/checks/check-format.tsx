/** Formats states, outcomes, durations and uptimes of checks */

import { formatQuantity } from '../../charts/values.ts';
import { Badge, type Tone } from '../../components/badge.tsx';
import { capitalize } from '../../frame/capitalize.ts';
import type { Check, Run } from './calls.ts';

/** Formats an uptime between 0 and 1 as a percentage; `no data` without data. */
export const formatUptime = (uptime: number | null | undefined): string =>
  uptime === null || uptime === undefined ? 'no data' : `${(100 * uptime).toFixed(3)} %`;

/** Returns the state as text, or `disabled` for a disabled check. */
export const describeState = ({ enabled, state }: Check): string => (enabled ? (state ?? 'pending') : 'disabled');

const outcomeTones: Readonly<Record<string, Tone>> = {
  up: 'ok',
  passed: 'ok',
  down: 'critical',
  failed: 'critical',
  degraded: 'warning',
  'no data': 'warning',
  maintenance: 'info',
};

/** A state or outcome as a badge. */
export const StateLabel = ({ state }: { readonly state: string }) => (
  <Badge tone={outcomeTones[state] ?? 'neutral'}>{capitalize(state)}</Badge>
);

export const formatMs = (ms: number): string => formatQuantity(ms, 'ms');

/** Titles of the phases in time order */
const phaseTitles: Readonly<Record<string, string>> = {
  lookup: 'DNS lookup',
  connect: 'Connect',
  tls: 'TLS handshake',
  send: 'Send',
  wait: 'First byte',
  receive: 'Download',
};
const phaseOrder = Object.keys(phaseTitles);

interface ShownPhase {
  readonly name: string;
  readonly title: string;
  readonly ms: number;
  readonly startMs: number;
  readonly colorClass: string;
}

/** Returns the phases in order with their starts. Each phase has the same color everywhere. */
const listPhases = (phaseDurations: Run['phases']): readonly ShownPhase[] => {
  let startMs = 0;
  return Object.entries(phaseDurations).map(([name, ms]) => {
    const phase = {
      name,
      title: phaseTitles[name] ?? name,
      ms,
      startMs,
      colorClass: `line-${Math.max(0, phaseOrder.indexOf(name))}`,
    };
    startMs += ms;
    return phase;
  });
};

/** Phases of a run as a bar, with widths in proportion to their duration. */
export const PhasesBar = ({ phaseDurations }: { readonly phaseDurations: Run['phases'] }) => {
  const phases = listPhases(phaseDurations);
  const totalMs = phases.reduce((sum, { ms }) => sum + ms, 0);
  const label = phases.map(({ title, ms }) => `${title} ${formatMs(ms)}`).join(', ');
  if (totalMs === 0) return null;
  return (
    <span class="phases" role="img" aria-label={label} data-tooltip={label}>
      {phases.map(({ name, ms, colorClass }) => (
        <span key={name} class={`swatch ${colorClass}`} style={{ width: `${(100 * ms) / totalMs}%` }} />
      ))}
    </span>
  );
};

/** Legend of the colors of `PhasesBar`. */
export const PhasesLegend = ({ phaseDurations }: { readonly phaseDurations: Run['phases'] }) => (
  <p class="legend">
    {listPhases(phaseDurations).map(({ name, title, colorClass }) => (
      <span key={name}>
        <span class={`swatch ${colorClass}`} /> {title}{' '}
      </span>
    ))}
  </p>
);

/** Phases of a step, one below the other, with the start and duration of each. */
export const PhasesWaterfall = ({ phaseDurations }: { readonly phaseDurations: Run['phases'] }) => {
  const phases = listPhases(phaseDurations);
  const totalMs = phases.reduce((sum, { ms }) => sum + ms, 0);
  if (totalMs === 0) return null;
  const toPercent = (ms: number): string => `${(100 * ms) / totalMs}%`;
  return (
    <table class="check-waterfall">
      <caption class="sr-only">Timing</caption>
      <tbody>
        {phases.map(({ name, title, ms, startMs, colorClass }) => (
          <tr key={name}>
            <th scope="row">{title}</th>
            <td>
              <span class={`swatch ${colorClass}`} style={{ marginLeft: toPercent(startMs), width: toPercent(ms) }} />
            </td>
            <td class="number">{formatMs(ms)}</td>
          </tr>
        ))}
        <tr>
          <th scope="row">Total</th>
          <td />
          <td class="number">{formatMs(totalMs)}</td>
        </tr>
      </tbody>
    </table>
  );
};

/** One time slice of `UptimeBars` */
export interface UptimeSlice {
  readonly uptime: number | null;
  /** Time and value of the slice */
  readonly text: string;
}

/** Returns the CSS class of the uptime of a slice. */
const getUptimeClass = (uptime: number | null): string => {
  if (uptime === null) return 'none';
  return uptime === 1 ? 'whole' : uptime >= 0.99 ? 'nearly' : 'broken';
};

/** Uptime as a row of colored segments, the latest slice last. */
export const UptimeBars = ({ label, slices }: { readonly label: string; readonly slices: readonly UptimeSlice[] }) => (
  <span class="uptime-bars" role="img" aria-label={label}>
    {slices.map(({ uptime, text }) => (
      <span key={text} class={getUptimeClass(uptime)} data-tooltip={text} />
    ))}
  </span>
);
