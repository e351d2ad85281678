/** Selected region of durations and times, stored in the URL */
import { computed } from '@preact/signals';
import { change, inAddress } from '../../frame/address.ts';

export interface Region {
  /** Minimum duration in search syntax; empty if unbounded */
  readonly atLeast: string;
  readonly below: string;
  /** Start in ISO-8601; empty for the full range */
  readonly since: string;
  readonly until: string;
}

/** `undefined` if no region is selected */
export const region = computed<Region | undefined>(() => {
  const [atLeast, below] = [inAddress('atleast'), inAddress('below')];
  const [since, until] = [inAddress('since'), inAddress('until')];
  return atLeast + below + since + until === '' ? undefined : { atLeast, below, since, until };
});

export const setRegion = (chosen: Region | undefined): void =>
  change({
    atleast: chosen?.atLeast ?? '',
    below: chosen?.below ?? '',
    since: chosen?.since ?? '',
    until: chosen?.until ?? '',
  });

/** Bounds of the heatmap's duration buckets */
export const bounds = [
  ...['1ms', '2ms', '5ms', '10ms', '20ms', '50ms', '100ms', '200ms', '500ms'],
  ...['1s', '2s', '5s', '10s', '30s'],
] as const;

/** Bounds of each heatmap row, in ascending order */
export const cellRows: readonly { readonly atLeast: string; readonly below: string }[] = ['', ...bounds].map(
  (atLeast, index) => ({ atLeast, below: bounds[index] ?? '' }),
);

/** Returns a search for spans with a duration between two bounds. */
export const searchOf = ({ atLeast, below }: { readonly atLeast: string; readonly below: string }): string =>
  [atLeast === '' ? '' : `duration:>=${atLeast}`, below === '' ? '' : `duration:<${below}`]
    .filter((condition) => condition !== '')
    .join(' ');

/** Returns a search for the spans of a region. */
export const searchOfRegion = ({ since, until, ...durations }: Region): string =>
  [searchOf(durations), since === '' ? '' : `timestamp:>="${since}"`, until === '' ? '' : `timestamp:<"${until}"`]
    .filter((condition) => condition !== '')
    .join(' ');
