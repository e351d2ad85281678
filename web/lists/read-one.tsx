/** One that is on none of the pages of a list that were read: it is read by its id. */
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
  /** What it is. */
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
