/** Long work on the main thread, in time slices, so that other requests run in between. */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';

const timeSliceMs = 5;

/** Returns a function that yields to the event loop if the time slice is over. Call it between parts of the work. */
export const createTimeSlicer = (): (() => Promise<void> | undefined) => {
  let lastYieldMs = performance.now();
  const endSlice = async (): Promise<void> => {
    await yieldToEventLoop();
    lastYieldMs = performance.now();
  };
  return () => (performance.now() - lastYieldMs < timeSliceMs ? undefined : endSlice());
};

/** Converts items in order. */
export const mapInSlices = async <Item, Result>(
  items: readonly Item[],
  convert: (item: Item, index: number) => Result,
): Promise<Result[]> => {
  const yieldIfDue = createTimeSlicer();
  const results: Result[] = [];
  for (const [index, item] of items.entries()) {
    results.push(convert(item, index));
    const pause = yieldIfDue();
    if (pause !== undefined) await pause;
  }
  return results;
};
