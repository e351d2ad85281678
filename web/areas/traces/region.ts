/** Selected region of durations and times, stored in the URL */
import { computed } from '@preact/signals';
import { readParam, setParams } from '../../frame/address.ts';

export interface Region {
  /** Minimum duration in search syntax; empty if unbounded */
  readonly atLeast: string;
  readonly below: string;
  /** Start in ISO 8601; empty if unbounded */
  readonly since: string;
  readonly until: string;
}

/** `undefined` if no region is selected */
export const region = computed<Region | undefined>(() => {
  const [atLeast, below] = [readParam('atleast'), readParam('below')];
  const [since, until] = [readParam('since'), readParam('until')];
  return atLeast + below + since + until === '' ? undefined : { atLeast, below, since, until };
});

export const setRegion = (selection: Region | undefined): void =>
  setParams({
    atleast: selection?.atLeast ?? '',
    below: selection?.below ?? '',
    since: selection?.since ?? '',
    until: selection?.until ?? '',
  });

/** Bounds of the heatmap's duration buckets */
export const durationBounds = [
  ...['1ms', '2ms', '5ms', '10ms', '20ms', '50ms', '100ms', '200ms', '500ms'],
  ...['1s', '2s', '5s', '10s', '30s'],
] as const;

/** Bounds of each heatmap row, in ascending order */
export const heatmapRows: readonly { readonly atLeast: string; readonly below: string }[] = ['', ...durationBounds].map(
  (atLeast, index) => ({ atLeast, below: durationBounds[index] ?? '' }),
);

/** Returns the search for spans with a duration between two bounds. */
export const toDurationSearch = ({ atLeast, below }: { readonly atLeast: string; readonly below: string }): string =>
  [atLeast === '' ? '' : `duration:>=${atLeast}`, below === '' ? '' : `duration:<${below}`]
    .filter((condition) => condition !== '')
    .join(' ');

/** Returns the search for the spans of a region. */
export const toRegionSearch = ({ since, until, ...durations }: Region): string =>
  [
    toDurationSearch(durations),
    since === '' ? '' : `timestamp:>="${since}"`,
    until === '' ? '' : `timestamp:<"${until}"`,
  ]
    .filter((condition) => condition !== '')
    .join(' ');

/** Returns a search for those spans of a search that are in a region. */
export const limitToRegion = (search: string, selection: Region): string =>
  search.trim() === '' ? toRegionSearch(selection) : `(${search}) ${toRegionSearch(selection)}`;
