/** Virtual list of rows, of which only the visible ones are in the document */
import type { ComponentChildren, CSSProperties } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useVirtual } from './virtual.ts';

/** A styled cell that needs no element of its own */
export interface StyledCell {
  readonly attributes: { readonly class?: string; readonly style?: CSSProperties };
  readonly content: ComponentChildren;
}
export type Cell = ComponentChildren | StyledCell;

const isStyled = (cell: Cell): cell is StyledCell => typeof cell === 'object' && cell !== null && 'attributes' in cell;

export interface RowsProps<Item> {
  /** Items; `undefined` if an item was discarded, in which case it is loaded when visible */
  readonly items: readonly (Item | undefined)[];
  readonly label: string;
  /** CSS class, which defines the column widths */
  readonly class: string;
  readonly columns: readonly string[];
  /** Column widths, if they vary: `grid-template-columns` */
  readonly widths?: string;
  /** Whether rows have the height of their text */
  readonly wraps?: boolean;
  readonly keyOf: (item: Item) => string;
  readonly cellsOf: (item: Item) => readonly Cell[];
  readonly classOf?: (item: Item) => string;
  /** Key of the open row */
  readonly open: string;
  readonly onOpen: (key: string) => void;
  /** Key of a row to scroll to, which stays visible when rows are added above */
  readonly held?: string;
  /** Handles a key of the focused row before the list does; returns whether it was handled */
  readonly onKey?: (key: string, item: Item) => boolean;
  /** Reports the visible rows */
  readonly onSeen?: (first: number, last: number) => void;
}

/** Returns the focused row after a key. */
const moved = (key: string, at: number, page: number, last: number): number | undefined => {
  const steps: Readonly<Record<string, number>> = {
    ArrowDown: at + 1,
    ArrowUp: at - 1,
    PageDown: at + page,
    PageUp: at - page,
    Home: 0,
    End: last,
  };
  const to = steps[key];
  return to === undefined ? undefined : Math.max(0, Math.min(last, to));
};

const Head = ({ columns, widths }: { readonly columns: readonly string[]; readonly widths: string | undefined }) => (
  <div role="rowgroup" class="head">
    <div class="row" role="row" aria-rowindex={1} style={{ gridTemplateColumns: widths }}>
      {columns.map((column) => (
        <span key={column} role="columnheader">
          {column}
        </span>
      ))}
    </div>
  </div>
);

interface RowProps<Item> extends Pick<RowsProps<Item>, 'columns' | 'keyOf' | 'cellsOf' | 'onOpen'> {
  readonly widths: string | undefined;
  readonly classOf: RowsProps<Item>['classOf'] | undefined;
  readonly item: Item | undefined;
  readonly index: number;
  readonly top: number;
  readonly isOpen: boolean;
  readonly isCurrent: boolean;
  readonly onCurrent: (index: number) => void;
  /** Reference to measure rows */
  readonly measure: ((node: HTMLElement | null) => void) | null;
}

/** A row. Rows that remain visible are not rendered again when others are added. */
const Row = <Item,>(props: RowProps<Item>) => {
  const { item, index, top, isOpen, isCurrent, columns, widths, keyOf, cellsOf, classOf, onOpen, onCurrent } = props;
  return (
    <div
      ref={props.measure}
      data-index={props.measure === null ? undefined : index}
      id={`row-${index}`}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isOpen}
      class={`row ${item === undefined ? '' : (classOf?.(item) ?? '')}${isCurrent ? ' current' : ''}`}
      style={{ gridTemplateColumns: widths, transform: `translateY(${top}px)` }}
      onClick={() => {
        onCurrent(index);
        if (item !== undefined) onOpen(keyOf(item));
      }}
    >
      {(item === undefined ? columns.map(() => '…') : cellsOf(item)).map((cell, column) => {
        const { attributes, content } = isStyled(cell) ? cell : { attributes: {}, content: cell };
        // A text is the cell itself, with its own direction, which saves an element per cell.
        return typeof content === 'string' ? (
          <span key={columns[column]} role="gridcell" dir="auto" {...attributes}>
            {content}
          </span>
        ) : (
          <span key={columns[column]} role="gridcell" {...attributes}>
            {content}
          </span>
        );
      })}
    </div>
  );
};

export const Rows = <Item,>(props: RowsProps<Item>) => {
  const { items, label, class: name, columns, widths, wraps = false } = props;
  const { keyOf, cellsOf, classOf, open, onOpen, onSeen, onKey, held = '' } = props;
  const place = useRef<HTMLDivElement>(null);
  const [current, setCurrent] = useState(0);
  const keyAt = (index: number): string => {
    const item = items[index];
    return item === undefined ? `gone-${index}` : keyOf(item);
  };
  const virtual = useVirtual(place, items.length, wraps ? keyAt : undefined);
  const shown = virtual.getVirtualItems();
  const first = shown[0]?.index ?? 0;
  const last = shown.at(-1)?.index ?? 0;
  useEffect(() => {
    if (items.length > 0) onSeen?.(first, last);
  }, [first, last, items]);
  const heldAt = useMemo(
    () => (held === '' ? -1 : items.findIndex((item) => item !== undefined && keyOf(item) === held)),
    [held, items],
  );
  useEffect(() => {
    if (heldAt >= 0) virtual.scrollToIndex(heldAt, { align: 'center' });
  }, [heldAt]);
  const onKeyDown = (event: KeyboardEvent): void => {
    const item = items[current];
    if (item !== undefined && onKey?.(event.key, item) === true) {
      event.preventDefault();
      return;
    }
    if (event.key === 'Enter' && item !== undefined) onOpen(keyOf(item));
    const page = (virtual.range?.endIndex ?? 0) - (virtual.range?.startIndex ?? 0);
    const to = moved(event.key, current, page, items.length - 1);
    if (to === undefined) return;
    event.preventDefault();
    setCurrent(to);
    virtual.scrollToIndex(to, { align: 'auto' });
  };
  return (
    <div
      ref={place}
      class={`rows ${name}${wraps ? ' wraps' : ''}`}
      role="grid"
      tabIndex={0}
      aria-label={label}
      aria-rowcount={items.length + 1}
      aria-colcount={columns.length}
      aria-activedescendant={shown.some(({ index }) => index === current) ? `row-${current}` : undefined}
      onKeyDown={onKeyDown}
    >
      <Head columns={columns} widths={widths} />
      <div role="rowgroup" class="extent" style={{ height: `${virtual.getTotalSize()}px` }}>
        {shown.map(({ index, start }) => {
          const item = items[index];
          return (
            <Row<Item>
              key={keyAt(index)}
              item={item}
              index={index}
              columns={columns}
              widths={widths}
              keyOf={keyOf}
              cellsOf={cellsOf}
              classOf={classOf}
              onOpen={onOpen}
              measure={wraps ? virtual.measureElement : null}
              top={start - virtual.options.scrollMargin}
              isOpen={item !== undefined && keyOf(item) === open}
              isCurrent={index === current}
              onCurrent={setCurrent}
            />
          );
        })}
      </div>
    </div>
  );
};
