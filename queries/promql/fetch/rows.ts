/** Rows of points by series. */
import { type Block, type Column, decodeBlocks, getNumbers } from './native-blocks.ts';

/** Consecutive rows of one series in one block. */
export interface RowRun {
  readonly block: Block;
  readonly start: number;
  readonly end: number;
}

const getWords = (column: Column | undefined): Uint32Array => {
  if (column?.kind !== 'words') throw new Error('there is no column of ids');
  return column.words;
};

/** Visits each run of consecutive rows of one series in a block. */
const visitRuns = (block: Block, visit: (id: bigint, start: number, end: number) => void): void => {
  const words = getWords(block.columns.get('id'));
  for (let start = 0; start < block.rows; ) {
    const low = words[start * 2] as number;
    const high = words[start * 2 + 1] as number;
    let end = start + 1;
    while (end < block.rows && words[end * 2] === low && words[end * 2 + 1] === high) end++;
    visit((BigInt(high) << 32n) | BigInt(low), start, end);
    start = end;
  }
};

/** Returns the series of a result, and its number of rows. */
export const readSeriesIds = (bytes: Uint8Array): { readonly ids: ReadonlySet<string>; readonly rows: number } => {
  const ids = new Set<string>();
  let rows = 0;
  for (const block of decodeBlocks(bytes, ['id'])) {
    visitRuns(block, (id) => ids.add(String(id)));
    rows += block.rows;
  }
  return { ids, rows };
};

/** Rows of one table, ordered by series and time. */
export class PointRows {
  readonly #runs = new Map<bigint, RowRun[]>();

  constructor(bytes: Uint8Array) {
    for (const block of decodeBlocks(bytes))
      visitRuns(block, (id, start, end) => {
        const runs = this.#runs.get(id);
        if (runs === undefined) this.#runs.set(id, [{ block, start, end }]);
        else runs.push({ block, start, end });
      });
  }

  getRuns(id: string): readonly RowRun[] {
    return this.#runs.get(BigInt(id)) ?? [];
  }
}

/** Returns the numbers of a column in all runs of a series. */
export const joinColumn = (runs: readonly RowRun[], name: string): Float64Array => {
  const [firstRun] = runs;
  if (firstRun === undefined) return new Float64Array(0);
  if (runs.length === 1) return getNumbers(firstRun.block, name).subarray(firstRun.start, firstRun.end);
  const values = new Float64Array(runs.reduce((size, { start, end }) => size + end - start, 0));
  let offset = 0;
  for (const { block, start, end } of runs) {
    values.set(getNumbers(block, name).subarray(start, end), offset);
    offset += end - start;
  }
  return values;
};
