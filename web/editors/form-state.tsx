/** Side panel of a configuration resource in a list: view, create, edit and delete */

import { Plus } from 'lucide';
import type { ComponentType } from 'preact';
import { useState } from 'preact/hooks';
import { Action } from '../client/action.ts';
import {
  type Call,
  type CallInput,
  declareDeleteCall,
  declareReadCall,
  type OperationDeclaration,
  type ResponseBody,
} from '../client/call.ts';
import type { CallError } from '../client/request.ts';
import { Button } from '../components/button.tsx';
import { readParam, setParams } from '../frame/address.ts';
import { capitalize } from '../frame/capitalize.ts';
import { type AnyCall, explainDenial, isPermitted } from '../frame/rights.ts';
import { refresh } from '../frame/time-range.ts';
import { LoadedItem } from '../lists/read-one.tsx';
import { SidePanel } from '../lists/side-panel.tsx';
import { RemovalForm } from './removal.tsx';

interface StoredItem {
  readonly id: string;
  readonly version: number;
  readonly name: string;
}

/** Returns a function that finds the error of the field at a path of the body, or of a field inside it. */
export const createProblemFinder =
  (error: CallError | undefined) =>
  (path: string): string | undefined =>
    error?.at(path);

/** Returns the state of a form, and `save`, which creates a resource or replaces the existing one. */
export const useSaving = <Creation extends OperationDeclaration, Replacement extends OperationDeclaration>(
  create: Call<Creation>,
  replace: Call<Replacement>,
  savedItem: StoredItem | undefined,
  onSaved: (saved: ResponseBody<Creation> | ResponseBody<Replacement>) => void = () => undefined,
) => {
  const [createAction] = useState(() => new Action(create));
  const [replaceAction] = useState(() => new Action(replace));
  const { isRunning, error } = savedItem === undefined ? createAction : replaceAction;
  return {
    isRunning: isRunning.value,
    error: error.value,
    findProblem: createProblemFinder(error.value),
    async save(body: CallInput<Creation>['body'] & CallInput<Replacement>['body']): Promise<void> {
      const saved =
        savedItem === undefined
          ? await createAction.run({ body } as CallInput<Creation>)
          : await replaceAction.run({
              params: { id: savedItem.id },
              body,
              ifMatch: savedItem.version,
            } as CallInput<Replacement>);
      if (saved === undefined) return;
      onSaved(saved);
      setParams({ open: (saved as StoredItem).id, edit: '' });
      refresh();
    },
  };
};

interface ItemActionsProps {
  readonly item: StoredItem;
  readonly path: string;
  readonly canEdit: boolean;
  readonly onClose: () => void;
}

const ItemActions = ({ item: { id, version, name }, path, canEdit, onClose }: ItemActionsProps) => {
  const removal = declareDeleteCall(path);
  const [action] = useState(() => new Action(removal));
  const edit = canEdit ? (
    <button type="button" class="plain" onClick={() => setParams({ edit: id })}>
      Edit
    </button>
  ) : null;
  if (!isPermitted(removal))
    return (
      <div class="act">
        {edit}
        <p class="soft">{explainDenial(removal, canEdit ? 'Deletion' : 'Editing')}</p>
      </div>
    );
  return (
    <RemovalForm
      action={action}
      labels={['Delete', `Delete “${name}”`]}
      remove={() => action.run({ params: { id }, ifMatch: version })}
      onRemoved={onClose}
    >
      {edit}
    </RemovalForm>
  );
};

interface ItemPanelOptions<Item> {
  readonly noun: string;
  /** API path of one resource */
  readonly path: `${string}/{id}`;
  /** Call that edits the resource, if its permissions differ from those of deletion */
  readonly edit?: AnyCall;
  readonly Form: ComponentType<{ readonly savedItem: Item | undefined }>;
  readonly Details: ComponentType<{ readonly item: Item }>;
  /** Returns the address of the page of an item, if items have one */
  readonly toPageUrl?: (item: Item) => string;
}

/** Creates the side panel. The URL has the open resource (`open`, or `open=new`) and the edited one (`edit`). */
export const createItemPanel = <Item extends StoredItem>({
  noun,
  path,
  edit = { method: 'DELETE', path },
  Form,
  Details,
  toPageUrl,
}: ItemPanelOptions<Item>): ComponentType<{
  readonly id: string;
  readonly item: Item | undefined;
  readonly onClose: () => void;
}> => {
  const label = capitalize(noun);
  const ItemPanel = ({ item, onClose }: { readonly item: Item; readonly onClose: () => void }) => (
    <SidePanel
      label={label}
      title={item.name}
      {...(toPageUrl === undefined ? {} : { url: toPageUrl(item) })}
      onClose={onClose}
    >
      {readParam('edit') === item.id && isPermitted(edit) ? (
        <Form key={`${item.id} ${item.version}`} savedItem={item} />
      ) : (
        <>
          <ItemActions
            key={`${item.id} ${item.version}`}
            item={item}
            path={path}
            canEdit={isPermitted(edit)}
            onClose={onClose}
          />
          <Details item={item} />
        </>
      )}
    </SidePanel>
  );
  return ({ id, item, onClose }) => {
    const close = (): void => {
      setParams({ edit: '' });
      onClose();
    };
    if (id === 'new')
      return (
        <SidePanel label={label} title={`New ${noun}`} onClose={close}>
          <Form savedItem={undefined} />
        </SidePanel>
      );
    if (item !== undefined) return <ItemPanel item={item} onClose={close} />;
    return (
      <LoadedItem call={declareReadCall(path)} id={id} label={label} onClose={close}>
        {(loadedItem) => <ItemPanel item={loadedItem as Item} onClose={close} />}
      </LoadedItem>
    );
  };
};

/** Creates the button that opens the form for a new resource. */
export const createNewButton =
  (noun: string, create: AnyCall): ComponentType =>
  () =>
    isPermitted(create) ? (
      <Button kind="primary" icon={Plus} onClick={() => setParams({ open: 'new' })}>
        New {noun}
      </Button>
    ) : null;
