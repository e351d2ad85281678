/** Result of a list call: rows, or a text for an empty list */
import type { OperationDeclaration } from '../client/call.ts';
import type { PagedList } from '../client/pages.ts';
import { SkeletonRows } from '../components/skeleton.tsx';
import { EmptyView } from './empty-view.tsx';
import { Rows, type RowsProps } from './rows.tsx';

/** Returns the hint that some operations include in an empty response. */
const getHint = (result: object): string => ('hint' in result && typeof result.hint === 'string' ? result.hint : '');

export const ListResult = <Operation extends OperationDeclaration, Item>({
  list,
  emptyText,
  ...rows
}: Omit<RowsProps<Item>, 'items' | 'onVisibleRange'> & {
  readonly list: PagedList<Operation, Item>;
  /** Why the list is empty, as a sentence. Further sentences explain it. */
  readonly emptyText: string;
}) => {
  const { response, isLoading } = list.first.state.value;
  if (response === undefined) return isLoading ? <SkeletonRows /> : <p class="said" />;
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
  return <EmptyView title={emptyText} hint={getHint(response as object)} />;
};
