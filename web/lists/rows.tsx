/** Virtualized list of rows; only the visible rows are in the document */
import type { ComponentChildren, CSSProperties } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { rowHeights, useVirtual } from './virtual.ts';

/** Content of a cell with attributes, which saves an extra element */
export interface StyledCell {
  readonly attributes: { readonly class?: string; readonly style?: CSSProperties };
  readonly content: ComponentChildren;
}
export type Cell = ComponentChildren | StyledCell;

const isStyled = (cell: Cell): cell is StyledCell => typeof cell === 'object' && cell !== null && 'attributes' in cell;

export interface RowsProps<Item> {
  /** Items; a discarded item is `undefined` and is loaded when it becomes visible */
  readonly items: readonly (Item | undefined)[];
  readonly label: string;
  /** CSS class, which defines the column widths */
  readonly class: string;
  readonly columns: readonly string[];
  /** Contents of column headers that are more than the name of the column */
  readonly headers?: Readonly<Record<string, ComponentChildren>>;
  /** Value of `grid-template-columns`, if column widths vary */
  readonly widths?: string;
  /** Whether rows have the height of their text */
  readonly wraps?: boolean;
  /** Whether rows are records, which are read in sequence: low rows, in the font of code */
  readonly isDense?: boolean;
  readonly toKey: (item: Item) => string;
  readonly toCells: (item: Item) => readonly Cell[];
  readonly toClass?: (item: Item) => string;
  /** Key of the open row */
  readonly openKey: string;
  readonly onOpen: (key: string) => void;
  /** Key of the row to scroll to; the list scrolls again when the row's index changes */
  readonly scrollToKey?: string;
  /** Handles a key of the focused row before the list does; returns whether it was handled */
  readonly onKey?: (key: string, item: Item) => boolean;
  /** Reports the visible rows */
  readonly onVisibleRange?: (first: number, last: number) => void;
}

/** Returns the index of the focused row after a key press; `undefined` for other keys. */
const moveIndex = (key: string, index: number, page: number, last: number): number | undefined => {
  const steps: Readonly<Record<string, number>> = {
    ArrowDown: index + 1,
    ArrowUp: index - 1,
    PageDown: index + page,
    PageUp: index - page,
    Home: 0,
    End: last,
  };
  const target = steps[key];
  return target === undefined ? undefined : Math.max(0, Math.min(last, target));
};

const RowsHeader = ({
  columns,
  headers = {},
  widths,
}: {
  readonly columns: readonly string[];
  readonly headers: RowsProps<never>['headers'] | undefined;
  readonly widths: string | undefined;
}) => (
  <div role="rowgroup" class="head">
    <div class="row" role="row" aria-rowindex={1} style={{ gridTemplateColumns: widths }}>
      {columns.map((column) => (
        <span key={column} role="columnheader" aria-label={headers[column] === undefined ? undefined : column}>
          {headers[column] ?? column}
        </span>
      ))}
    </div>
  </div>
);

interface RowProps<Item> extends Pick<RowsProps<Item>, 'columns' | 'toKey' | 'toCells' | 'onOpen'> {
  readonly widths: string | undefined;
  readonly classOf: RowsProps<Item>['toClass'] | undefined;
  readonly item: Item | undefined;
  readonly index: number;
  readonly top: number;
  readonly isOpen: boolean;
  readonly isCurrent: boolean;
  readonly onFocusRow: (index: number) => void;
  /** Ref callback that measures the row; `null` if all rows have the same height */
  readonly measure: ((node: HTMLElement | null) => void) | null;
}

const Row = <Item,>(props: RowProps<Item>) => {
  const { item, index, top, isOpen, isCurrent, columns, widths, toKey, toCells, classOf, onOpen, onFocusRow } = props;
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
        onFocusRow(index);
        if (item !== undefined) onOpen(toKey(item));
      }}
    >
      {(item === undefined ? columns.map(() => '…') : toCells(item)).map((cell, column) => {
        const { attributes, content } = isStyled(cell) ? cell : { attributes: {}, content: cell };
        // Plain text sets its direction on the cell, which saves an element per cell.
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
  const { items, label, class: name, columns, widths, wraps = false, isDense = false } = props;
  const { toKey, toCells, toClass, openKey, onOpen, onVisibleRange, onKey, scrollToKey = '' } = props;
  const container = useRef<HTMLDivElement>(null);
  const [currentIndex, setCurrentIndex] = useState(0);
  const getRowKey = (index: number): string => {
    const item = items[index];
    return item === undefined ? `gone-${index}` : toKey(item);
  };
  const virtual = useVirtual(
    container,
    items.length,
    wraps ? getRowKey : undefined,
    rowHeights[isDense ? 'dense' : 'normal'],
  );
  const visibleRows = virtual.getVirtualItems();
  const first = visibleRows[0]?.index ?? 0;
  const last = visibleRows.at(-1)?.index ?? 0;
  useEffect(() => {
    if (items.length > 0) onVisibleRange?.(first, last);
  }, [first, last, items]);
  const scrollToIndex = useMemo(
    () => (scrollToKey === '' ? -1 : items.findIndex((item) => item !== undefined && toKey(item) === scrollToKey)),
    [scrollToKey, items],
  );
  useEffect(() => {
    if (scrollToIndex >= 0) virtual.scrollToIndex(scrollToIndex, { align: 'center' });
  }, [scrollToIndex]);
  const onKeyDown = (event: KeyboardEvent): void => {
    const item = items[currentIndex];
    if (item !== undefined && onKey?.(event.key, item) === true) {
      event.preventDefault();
      return;
    }
    if (event.key === 'Enter' && item !== undefined) onOpen(toKey(item));
    const page = (virtual.range?.endIndex ?? 0) - (virtual.range?.startIndex ?? 0);
    const newIndex = moveIndex(event.key, currentIndex, page, items.length - 1);
    if (newIndex === undefined) return;
    event.preventDefault();
    setCurrentIndex(newIndex);
    virtual.scrollToIndex(newIndex, { align: 'auto' });
  };
  return (
    <div
      ref={container}
      class={`rows ${name}${isDense ? ' dense' : ''}${wraps ? ' wraps' : ''}`}
      role="grid"
      tabIndex={0}
      aria-label={label}
      aria-rowcount={items.length + 1}
      aria-colcount={columns.length}
      aria-activedescendant={
        visibleRows.some(({ index }) => index === currentIndex) ? `row-${currentIndex}` : undefined
      }
      onKeyDown={onKeyDown}
    >
      <RowsHeader columns={columns} headers={props.headers} widths={widths} />
      <div role="rowgroup" class="extent" style={{ height: `${virtual.getTotalSize()}px` }}>
        {visibleRows.map(({ index, start }) => {
          const item = items[index];
          return (
            <Row<Item>
              key={getRowKey(index)}
              item={item}
              index={index}
              columns={columns}
              widths={widths}
              toKey={toKey}
              toCells={toCells}
              classOf={toClass}
              onOpen={onOpen}
              measure={wraps ? virtual.measureElement : null}
              top={start - virtual.options.scrollMargin}
              isOpen={item !== undefined && toKey(item) === openKey}
              isCurrent={index === currentIndex}
              onFocusRow={setCurrentIndex}
            />
          );
        })}
      </div>
    </div>
  );
};
