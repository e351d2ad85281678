/** Loads an item by its id if it is not on the loaded pages of a list */
import type { ComponentChildren } from 'preact';
import type { Call, CallInput, OperationDeclaration, ResponseBody } from '../client/call.ts';
import { ErrorMessage } from '../frame/freshness.tsx';
import { useQuery } from '../frame/use-query.ts';
import { SidePanel } from './side-panel.tsx';

export const LoadedItem = <Operation extends OperationDeclaration>({
  call,
  id,
  label,
  onClose,
  children,
}: {
  readonly call: Call<Operation>;
  readonly id: string;
  /** Kind of the item, for example `Key` */
  readonly label: string;
  readonly onClose: () => void;
  readonly children: (item: ResponseBody<Operation>) => ComponentChildren;
}) => {
  const { response, error } = useQuery(call, { params: { id } } as CallInput<Operation>);
  if (response !== undefined) return <>{children(response)}</>;
  return (
    <SidePanel label={label} title={label} onClose={onClose}>
      <ErrorMessage error={error} />
    </SidePanel>
  );
};
