/** How states, outcomes and uptimes of checks are written. */
import type { Check, Run } from './calls.ts';

/** A share of 1; `not known` where nothing was seen. */
export const shownUptime = (share: number | null | undefined): string =>
  share === null || share === undefined ? 'not known' : `${(100 * share).toFixed(3)} %`;

/** The state in words; a check that is off says that before. */
export const stateOf = ({ enabled, state }: Check): string => (enabled ? (state ?? 'not judged yet') : 'off');

const bad: Readonly<Record<string, string>> = {
  down: 'text-error',
  failed: 'text-error',
  degraded: 'text-warn',
  unknown: 'soft',
};

/** A state or an outcome. The word says it; the color alone says nothing. */
export const StateLabel = ({ of }: { readonly of: string }) => <span class={bad[of] ?? ''}>{of}</span>;

export const shownMs = (ms: number): string => `${ms < 100 ? ms.toFixed(1) : Math.round(ms).toLocaleString('en')} ms`;

/** Phases of a run, one behind the other, as wide as they were long. */
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

/** Which color of `Phases` is which. */
export const Legend = ({ of }: { readonly of: Run['phases'] }) => (
  <p class="legend">
    {Object.keys(of).map((name, at) => (
      <span key={name}>
        <span class={`swatch line-${at % 8}`} /> {name}{' '}
      </span>
    ))}
  </p>
);
