/** Result of a list call: rows, or the reason of an empty list */
import type { ComponentChildren } from 'preact';
import type { Declared } from '../client/call.ts';
import type { Paged } from '../client/pages.ts';
import { shownText } from '../frame/shown-text.tsx';
import { Rows, type RowsProps } from './rows.tsx';

/** Returns the hint that some lists include in an empty response. */
const hintOf = (answer: object): string => ('hint' in answer && typeof answer.hint === 'string' ? answer.hint : '');

export const Found = <Operation extends Declared, Item>({
  of,
  nothing,
  ...rows
}: Omit<RowsProps<Item>, 'items' | 'onSeen'> & {
  readonly of: Paged<Operation, Item>;
  /** Content of an empty list */
  readonly nothing: ComponentChildren;
}) => {
  const { answer, isLoading } = of.first.state.value;
  if (answer === undefined) return <p class="said">{isLoading ? 'Loading…' : ''}</p>;
  const items = of.slots.value;
  if (items.length > 0)
    return (
      <Rows<Item>
        {...rows}
        class={isLoading ? `${rows.class} old` : rows.class}
        items={items}
        onSeen={(first, last) => of.seen(first, last)}
      />
    );
  const hint = hintOf(answer as object);
  return (
    <div class="said" role="status">
      <p>{nothing}</p>
      {hint === '' ? null : <p>{shownText(hint)}</p>}
    </div>
  );
};
