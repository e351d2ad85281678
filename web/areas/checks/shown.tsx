/** Formats states, outcomes and uptimes of checks */
import type { Check, Run } from './calls.ts';

/** Formats a share between 0 and 1; `not known` without data. */
export const shownUptime = (share: number | null | undefined): string =>
  share === null || share === undefined ? 'not known' : `${(100 * share).toFixed(3)} %`;

/** Returns the state as text; a disabled check shows that instead. */
export const stateOf = ({ enabled, state }: Check): string => (enabled ? (state ?? 'pending') : 'disabled');

const bad: Readonly<Record<string, string>> = {
  down: 'text-error',
  failed: 'text-error',
  degraded: 'text-warn',
  unknown: 'soft',
};

/** A state or outcome. The word conveys the meaning; the color is only an addition. */
export const StateLabel = ({ of }: { readonly of: string }) => <span class={bad[of] ?? ''}>{of}</span>;

export const shownMs = (ms: number): string => `${ms < 100 ? ms.toFixed(1) : Math.round(ms).toLocaleString('en')} ms`;

/** Phases of a run as a bar, with widths in proportion to their duration. */
export const Phases = ({ of }: { readonly of: Run['phases'] }) => {
  const phases = Object.entries(of);
  const whole = phases.reduce((sum, [, ms]) => sum + ms, 0);
  const label = phases.map(([name, ms]) => `${name} ${shownMs(ms)}`).join(', ');
  if (whole === 0) return null;
  return (
    <span class="phases" role="img" aria-label={label} title={label}>
      {phases.map(([name, ms], at) => (
        <span key={name} class={`swatch line-${at % 8}`} style={{ width: `${(100 * ms) / whole}%` }} />
      ))}
    </span>
  );
};

/** Legend of the colors of `Phases`. */
export const Legend = ({ of }: { readonly of: Run['phases'] }) => (
  <p class="legend">
    {Object.keys(of).map((name, at) => (
      <span key={name}>
        <span class={`swatch line-${at % 8}`} /> {name}{' '}
      </span>
    ))}
  </p>
);
