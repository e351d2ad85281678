/** Predicts when an error budget is exhausted, by simulating many futures from past data */

/** Events in one block of time; all blocks have the same length */
export interface Block {
  readonly bad: number;
  readonly total: number;
}

/** Input of a forecast */
export interface ForecastInput {
  /** Blocks of the current window in time order: from its start for a calendar window, otherwise of the last days */
  readonly blocks: readonly Block[];
  /** Number of blocks in a full window */
  readonly windowBlocks: number;
  /** Allowed share of bad events: 1 − target */
  readonly allowed: number;
  /** Base of the budget: `events`, or the number of slices in the window */
  readonly budgetOf: 'events' | number;
  /** Whether old blocks leave the window as new ones enter */
  readonly isRolling: boolean;
}

/**
 * Result in blocks from now; `null` means not within the window, or for a rolling window not within one window length
 * from now
 */
export type Forecast =
  | {
      readonly state: 'known';
      readonly runsOutIn: number | null;
      /** 80% interval of the exhaustion time */
      readonly interval: readonly [earliest: number | null, latest: number | null];
      /** Share of the futures in which the budget is exhausted */
      readonly breachChance: number;
    }
  | { readonly state: 'unknown'; readonly reason: string };

const futureCount = 400;
/**
 * Quantiles of the interval. With 0.1 and 0.9, the interval covered 71 to 80 of 100 simulated budgets, because a
 * short history contains fewer bursts than the future. With these quantiles, it covers 78 to 84, or 70 to 75 for
 * budgets with rare large bursts.
 */
const intervalQuantiles = [0.08, 0.92] as const;

/** Returns a deterministic random generator for numbers from 0 to 1, so that a forecast is a function of its input. */
const createRandom = (seed: number): (() => number) => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
};

/**
 * Returns a function that draws blocks from the past. Each future weights the past differently (Bayesian bootstrap),
 * because the past itself is a random sample. Without this, intervals are too narrow.
 */
const createBlockDrawer = (blocks: readonly Block[], random: () => number): (() => Block) => {
  let sum = 0;
  const cumulativeWeights = blocks.map(() => {
    sum -= Math.log(1 - random());
    return sum;
  });
  return () => {
    const target = random() * sum;
    let [low, high] = [0, blocks.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((cumulativeWeights[middle] ?? 0) > target) high = middle;
      else low = middle + 1;
    }
    return blocks[low] ?? { bad: 0, total: 0 };
  };
};

/** Returns the number of blocks until one future exhausts its budget; infinity if it does not within `steps`. */
const simulateRunOut = (input: ForecastInput, steps: number, draw: () => Block): number => {
  const { blocks, windowBlocks, allowed, budgetOf, isRolling } = input;
  let bad = 0;
  let total = 0;
  for (const block of blocks) {
    bad += block.bad;
    total += block.total;
  }
  const budgetLeft = (): number => allowed * (budgetOf === 'events' ? total : budgetOf) - bad;
  let before = budgetLeft();
  if (before <= 0) return 0;
  for (let step = 1; step <= steps; step += 1) {
    const next = draw();
    bad += next.bad;
    total += next.total;
    // No block leaves a window that is not full yet.
    const expiredBlock = isRolling ? blocks[blocks.length + step - 1 - windowBlocks] : undefined;
    if (expiredBlock !== undefined) {
      bad -= expiredBlock.bad;
      total -= expiredBlock.total;
    }
    const after = budgetLeft();
    if (after <= 0) return step - 1 + before / (before - after);
    before = after;
  }
  return Number.POSITIVE_INFINITY;
};

/** Predicts when the budget is exhausted, with an 80% interval and the probability of a breach. */
export const computeForecast = (input: ForecastInput): Forecast => {
  const { windowBlocks, isRolling } = input;
  const blocksWithData = input.blocks.filter(({ total }) => total > 0);
  if (blocksWithData.length * 5 < windowBlocks || blocksWithData.length < 10) {
    return {
      state: 'unknown',
      reason: `${blocksWithData.length} of ${windowBlocks} parts of the window have data; a forecast needs a fifth of the parts, and at least 10`,
    };
  }
  const random = createRandom(blocksWithData.length);
  const steps = isRolling ? windowBlocks : Math.max(0, windowBlocks - input.blocks.length);
  const exhaustionTimes = Array.from({ length: futureCount }, () =>
    simulateRunOut(input, steps, createBlockDrawer(input.blocks, random)),
  );
  exhaustionTimes.sort((left, right) => left - right);
  const getQuantile = (share: number): number | null => {
    const end = exhaustionTimes[Math.min(futureCount - 1, Math.floor(share * futureCount))] ?? Number.POSITIVE_INFINITY;
    return Number.isFinite(end) ? end : null;
  };
  return {
    state: 'known',
    runsOutIn: getQuantile(0.5),
    interval: [getQuantile(intervalQuantiles[0]), getQuantile(intervalQuantiles[1])],
    breachChance: exhaustionTimes.filter((end) => Number.isFinite(end)).length / futureCount,
  };
};
