/** Formats states, outcomes and uptimes of checks */
import type { Check, Run } from './calls.ts';

/** Formats an uptime between 0 and 1 as a percentage; `not known` without data. */
export const formatUptime = (share: number | null | undefined): string =>
  share === null || share === undefined ? 'not known' : `${(100 * share).toFixed(3)} %`;

/** Returns the state as text; a disabled check shows that instead. */
export const describeState = ({ enabled, state }: Check): string => (enabled ? (state ?? 'pending') : 'disabled');

const outcomeClasses: Readonly<Record<string, string>> = {
  down: 'text-error',
  failed: 'text-error',
  degraded: 'text-warn',
  unknown: 'soft',
};

/** A state or outcome as text; the color only emphasizes it. */
export const StateLabel = ({ of }: { readonly of: string }) => <span class={outcomeClasses[of] ?? ''}>{of}</span>;

export const formatMs = (ms: number): string => `${ms < 100 ? ms.toFixed(1) : Math.round(ms).toLocaleString('en')} ms`;

/** Phases of a run as a bar, with widths in proportion to their duration. */
export const PhasesBar = ({ of }: { readonly of: Run['phases'] }) => {
  const phases = Object.entries(of);
  const totalMs = phases.reduce((sum, [, ms]) => sum + ms, 0);
  const label = phases.map(([name, ms]) => `${name} ${formatMs(ms)}`).join(', ');
  if (totalMs === 0) return null;
  return (
    <span class="phases" role="img" aria-label={label} title={label}>
      {phases.map(([name, ms], at) => (
        <span key={name} class={`swatch line-${at % 8}`} style={{ width: `${(100 * ms) / totalMs}%` }} />
      ))}
    </span>
  );
};

/** Legend of the colors of `PhasesBar`. */
export const PhasesLegend = ({ of }: { readonly of: Run['phases'] }) => (
  <p class="legend">
    {Object.keys(of).map((name, at) => (
      <span key={name}>
        <span class={`swatch line-${at % 8}`} /> {name}{' '}
      </span>
    ))}
  </p>
);
