/** A long list of rows of one height, of which only those in sight are in the document. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

export const rowHeight = 24;
/** Rows beyond each edge, so that a slow frame shows no gap. */
const beyond = 20;

export interface RowsProps<Item> {
  readonly items: readonly Item[];
  readonly label: string;
  /** Of the style sheet: how wide its columns are. */
  readonly class: string;
  readonly columns: readonly string[];
  readonly keyOf: (item: Item) => string;
  readonly cellsOf: (item: Item) => readonly ComponentChildren[];
  readonly classOf?: (item: Item) => string;
  /** The key of the row that is open. */
  readonly open: string;
  readonly onOpen: (key: string) => void;
  /** Called when the end comes near. */
  readonly onEnd: () => void;
}

/** The row that has the keyboard, after a key. */
const moved = (key: string, at: number, page: number, last: number): number | undefined => {
  const steps: Readonly<Record<string, number>> = {
    ...{ ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: last },
  };
  const to = steps[key];
  return to === undefined ? undefined : Math.max(0, Math.min(last, to));
};

export const Rows = <Item,>(props: RowsProps<Item>) => {
  const { items, label, class: name, columns, keyOf, cellsOf, classOf, open, onOpen, onEnd } = props;
  const place = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  const [current, setCurrent] = useState(0);
  useEffect(() => {
    if (place.current === null) return;
    const watch = new ResizeObserver(([entry]) => setHeight((entry?.contentRect.height ?? 600) - rowHeight));
    watch.observe(place.current);
    return () => watch.disconnect();
  }, []);
  const first = Math.max(0, Math.floor(top / rowHeight) - beyond);
  const last = Math.min(items.length, Math.ceil((top + height) / rowHeight) + beyond);
  useEffect(() => {
    if (items.length > 0 && last === items.length) onEnd();
  }, [last, items.length]);
  const onKeyDown = (event: KeyboardEvent): void => {
    const item = items[current];
    if (event.key === 'Enter' && item !== undefined) onOpen(keyOf(item));
    const to = moved(event.key, current, Math.floor(height / rowHeight), items.length - 1);
    if (to === undefined || place.current === null) return;
    event.preventDefault();
    setCurrent(to);
    const { scrollTop } = place.current;
    if (to * rowHeight < scrollTop) place.current.scrollTop = to * rowHeight;
    if ((to + 1) * rowHeight > scrollTop + height) place.current.scrollTop = (to + 1) * rowHeight - height;
  };
  return (
    <div
      ref={place}
      class={`rows ${name}`}
      role="grid"
      tabIndex={0}
      aria-label={label}
      aria-rowcount={items.length + 1}
      aria-colcount={columns.length}
      aria-activedescendant={items.length === 0 ? undefined : `row-${current}`}
      onKeyDown={onKeyDown}
      onScroll={({ currentTarget }) => setTop(currentTarget.scrollTop)}
    >
      <div role="rowgroup" class="head">
        <div class="row" role="row" aria-rowindex={1}>
          {columns.map((column) => (
            <span key={column} role="columnheader">
              {column}
            </span>
          ))}
        </div>
      </div>
      <div role="rowgroup" class="extent" style={{ height: `${items.length * rowHeight}px` }}>
        {items.slice(first, last).map((item, index) => (
          <div
            key={keyOf(item)}
            id={`row-${first + index}`}
            role="row"
            aria-rowindex={first + index + 2}
            aria-selected={keyOf(item) === open}
            class={`row ${classOf?.(item) ?? ''}${first + index === current ? ' current' : ''}`}
            style={{ transform: `translateY(${(first + index) * rowHeight}px)` }}
            onClick={() => {
              setCurrent(first + index);
              onOpen(keyOf(item));
            }}
          >
            {cellsOf(item).map((cell, column) => (
              <span key={columns[column]} role="gridcell">
                {cell}
              </span>
            ))}
          </div>
        ))}
      </div>
    </div>
  );
};
