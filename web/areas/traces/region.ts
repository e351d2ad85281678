/** A region of the durations over time: of how long, and from when to when. It is in the address. */
import { computed } from '@preact/signals';
import { change, inAddress } from '../../frame/address.ts';

export interface Region {
  /** Durations as searches spell them; empty where the region has no such end. */
  readonly atLeast: string;
  readonly below: string;
  /** ISO-8601; empty where it is the whole range. */
  readonly since: string;
  readonly until: string;
}

/** Undefined where none is selected. */
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

/** The ends between which the spans of a column of the heatmap's cells are counted. */
export const bounds = [
  ...['1ms', '2ms', '5ms', '10ms', '20ms', '50ms', '100ms', '200ms', '500ms'],
  ...['1s', '2s', '5s', '10s', '30s'],
] as const;

/** Ends of the cells of one row, from the shortest up. */
export const cellRows: readonly { readonly atLeast: string; readonly below: string }[] = ['', ...bounds].map(
  (atLeast, index) => ({ atLeast, below: bounds[index] ?? '' }),
);

/** The search of spans whose duration lies between two ends. */
export const searchOf = ({ atLeast, below }: { readonly atLeast: string; readonly below: string }): string =>
  [atLeast === '' ? '' : `duration:>=${atLeast}`, below === '' ? '' : `duration:<${below}`]
    .filter((condition) => condition !== '')
    .join(' ');

/** The search of spans in a region. */
export const searchOfRegion = ({ since, until, ...durations }: Region): string =>
  [searchOf(durations), since === '' ? '' : `timestamp:>="${since}"`, until === '' ? '' : `timestamp:<"${until}"`]
    .filter((condition) => condition !== '')
    .join(' ');
