/** Hook that determines the visible rows of a long list */
import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from '@tanstack/virtual-core';
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks';

/** Heights of a row in pixels: of records, which are read in sequence, and of other lists */
export const rowHeights = { dense: 24, normal: 34 } as const;
/** Number of rows rendered beyond each edge, so that fast scrolling shows no gap */
const overscanRows = 8;

/**
 * Lays out rows below a header row in a scrollable element. With `getKey`, row heights vary: rows are measured, and
 * identified by their key.
 */
export const useVirtual = (
  container: RefObject<HTMLElement | null>,
  count: number,
  getKey: ((index: number) => string) | undefined,
  rowHeight: number,
): Virtualizer<HTMLElement, HTMLElement> => {
  const [, rerender] = useReducer((times: number) => times + 1, 0);
  const latestGetKey = useRef(getKey);
  latestGetKey.current = getKey;
  const [getItemKey] = useState(() => (index: number) => latestGetKey.current?.(index) ?? index);
  const options = {
    count,
    overscan: overscanRows,
    scrollMargin: rowHeight,
    scrollPaddingStart: rowHeight,
    getItemKey: getItemKey,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    getScrollElement: () => container.current,
    estimateSize: () => rowHeight,
    onChange: () => rerender(undefined),
  };
  const [virtual] = useState(() => new Virtualizer<HTMLElement, HTMLElement>(options));
  virtual.setOptions(options);
  useLayoutEffect(() => virtual._didMount(), []);
  useLayoutEffect(() => virtual._willUpdate());
  // Row heights change when line wrapping is turned on or off.
  useEffect(() => virtual.measure(), [getKey === undefined]);
  return virtual;
};
