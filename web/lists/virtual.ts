/** Determines the visible rows of a long list */
import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from '@tanstack/virtual-core';
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks';

export const rowHeight = 24;
/** Number of rows rendered beyond each edge, so that a slow frame shows no gap */
const beyond = 8;

/**
 * Lays out rows below a header row in a scrollable element. With `keyOf`, rows are measured and identified by their
 * key.
 */
export const useVirtual = (
  place: RefObject<HTMLElement | null>,
  count: number,
  keyOf: ((index: number) => string) | undefined,
): Virtualizer<HTMLElement, HTMLElement> => {
  const [, draw] = useReducer((times: number) => times + 1, 0);
  const latest = useRef(keyOf);
  latest.current = keyOf;
  const [keys] = useState(() => (index: number) => latest.current?.(index) ?? index);
  const options = {
    count,
    overscan: beyond,
    scrollMargin: rowHeight,
    scrollPaddingStart: rowHeight,
    getItemKey: keys,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    getScrollElement: () => place.current,
    estimateSize: () => rowHeight,
    onChange: () => draw(undefined),
  };
  const [virtual] = useState(() => new Virtualizer<HTMLElement, HTMLElement>(options));
  virtual.setOptions(options);
  useLayoutEffect(() => virtual._didMount(), []);
  useLayoutEffect(() => virtual._willUpdate());
  // Row heights change when wrapping is switched on or off.
  useEffect(() => virtual.measure(), [keyOf === undefined]);
  return virtual;
};
