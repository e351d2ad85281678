/** Result of a list call: rows, or a text for an empty list */
import type { ComponentChildren } from 'preact';
import type { OperationDeclaration } from '../client/call.ts';
import type { PagedList } from '../client/pages.ts';
import { renderText } from '../frame/shown-text.tsx';
import { Rows, type RowsProps } from './rows.tsx';

/** Returns the hint that some operations include in an empty response. */
const getHint = (answer: object): string => ('hint' in answer && typeof answer.hint === 'string' ? answer.hint : '');

export const ListResult = <Operation extends OperationDeclaration, Item>({
  list,
  emptyContent,
  ...rows
}: Omit<RowsProps<Item>, 'items' | 'onVisibleRange'> & {
  readonly list: PagedList<Operation, Item>;
  /** Content of an empty list */
  readonly emptyContent: ComponentChildren;
}) => {
  const { response, isLoading } = list.first.state.value;
  if (response === undefined) return <p class="said">{isLoading ? 'Loading…' : ''}</p>;
  const items = list.slots.value;
  if (items.length > 0)
    return (
      <Rows<Item>
        {...rows}
        class={isLoading ? `${rows.class} old` : rows.class}
        items={items}
        onVisibleRange={(first, last) => list.reportVisible(first, last)}
      />
    );
  const hint = getHint(response as object);
  return (
    <div class="said" role="status">
      <p>{emptyContent}</p>
      {hint === '' ? null : <p>{renderText(hint)}</p>}
    </div>
  );
};
