/** Reads an item by its id if it is not on the loaded pages of a list */
import type { ComponentChildren } from 'preact';
import type { Answered, Call, Declared, Sent } from '../client/call.ts';
import { Problem } from '../frame/freshness.tsx';
import { useQuery } from '../frame/use-query.ts';
import { SidePanel } from './side-panel.tsx';

export const ReadOne = <Operation extends Declared>({
  call,
  id,
  label,
  onClose,
  children,
}: {
  readonly call: Call<Operation>;
  readonly id: string;
  /** Kind of the item */
  readonly label: string;
  readonly onClose: () => void;
  readonly children: (item: Answered<Operation>) => ComponentChildren;
}) => {
  const { answer, error } = useQuery(call, { params: { id } } as Sent<Operation>);
  if (answer !== undefined) return <>{children(answer)}</>;
  return (
    <SidePanel label={label} title={label} onClose={onClose}>
      <Problem error={error} />
    </SidePanel>
  );
};
