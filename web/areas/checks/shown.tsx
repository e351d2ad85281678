/** Formats states, outcomes and uptimes of checks */
import type { Check, Run } from './calls.ts';

/** Formats an uptime between 0 and 1 as a percentage; `unknown` without data. */
export const formatUptime = (uptime: number | null | undefined): string =>
  uptime === null || uptime === undefined ? 'unknown' : `${(100 * uptime).toFixed(3)} %`;

/** Returns the state as text, or `disabled` for a disabled check. */
export const describeState = ({ enabled, state }: Check): string => (enabled ? (state ?? 'pending') : 'disabled');

const outcomeClasses: Readonly<Record<string, string>> = {
  down: 'text-error',
  failed: 'text-error',
  degraded: 'text-warn',
  unknown: 'soft',
};

/** A state or outcome as text; the color only emphasizes it. */
export const StateLabel = ({ state }: { readonly state: string }) => (
  <span class={outcomeClasses[state] ?? ''}>{state}</span>
);

export const formatMs = (ms: number): string => `${ms < 100 ? ms.toFixed(1) : Math.round(ms).toLocaleString('en')} ms`;

/** Phases of a run as a bar, with widths in proportion to their duration. */
export const PhasesBar = ({ phaseDurations }: { readonly phaseDurations: Run['phases'] }) => {
  const phases = Object.entries(phaseDurations);
  const totalMs = phases.reduce((sum, [, ms]) => sum + ms, 0);
  const label = phases.map(([name, ms]) => `${name} ${formatMs(ms)}`).join(', ');
  if (totalMs === 0) return null;
  return (
    <span class="phases" role="img" aria-label={label} title={label}>
      {phases.map(([name, ms], phaseIndex) => (
        <span key={name} class={`swatch line-${phaseIndex % 8}`} style={{ width: `${(100 * ms) / totalMs}%` }} />
      ))}
    </span>
  );
};

/** Legend of the colors of `PhasesBar`. */
export const PhasesLegend = ({ phaseDurations }: { readonly phaseDurations: Run['phases'] }) => (
  <p class="legend">
    {Object.keys(phaseDurations).map((name, phaseIndex) => (
      <span key={name}>
        <span class={`swatch line-${phaseIndex % 8}`} /> {name}{' '}
      </span>
    ))}
  </p>
);
