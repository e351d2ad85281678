import type { SelectFilter } from './declared-list.tsx';

/** Filter of lists whose items may never have had data */
export const noDataFilter: SelectFilter = {
  name: 'hasNoData',
  label: 'Data',
  options: [
    ['', 'any'],
    ['true', 'No data'],
    ['false', 'Has data'],
  ],
};
