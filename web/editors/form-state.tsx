/** Side panel of a declared list of a configuration resource: view, creation, editing, and deletion */
import type { ComponentType } from 'preact';
import { useState } from 'preact/hooks';
import { Action } from '../client/action.ts';
import { type Answered, type Call, type Declared, readingOf, removalOf, type Sent } from '../client/call.ts';
import type { CallError } from '../client/request.ts';
import { change, inAddress } from '../frame/address.ts';
import { type AnyCall, explainDenial, isPermitted } from '../frame/rights.ts';
import { refresh } from '../frame/time-range.ts';
import { ReadOne } from '../lists/read-one.tsx';
import { SidePanel } from '../lists/side-panel.tsx';
import { RemovalForm } from './removal.tsx';

interface StoredItem {
  readonly id: string;
  readonly version: number;
  readonly name: string;
}

/** Returns the error at a path of the request, or below it. */
export const wrongIn =
  (error: CallError | undefined) =>
  (path: string): string | undefined =>
    error?.at(path);

/** Creates a resource or replaces an existing one, with its validation errors. */
export const useSaving = <Creation extends Declared, Replacement extends Declared>(
  create: Call<Creation>,
  replace: Call<Replacement>,
  before: StoredItem | undefined,
  onSaved: (saved: Answered<Creation> | Answered<Replacement>) => void = () => undefined,
) => {
  const [creating] = useState(() => new Action(create));
  const [replacing] = useState(() => new Action(replace));
  const { isRunning, error } = before === undefined ? creating : replacing;
  return {
    isRunning: isRunning.value,
    error: error.value,
    wrong: wrongIn(error.value),
    async save(body: Sent<Creation>['body'] & Sent<Replacement>['body']): Promise<void> {
      const saved =
        before === undefined
          ? await creating.run({ body } as Sent<Creation>)
          : await replacing.run({ params: { id: before.id }, body, ifMatch: before.version } as Sent<Replacement>);
      if (saved === undefined) return;
      onSaved(saved);
      change({ open: (saved as StoredItem).id, edit: '' });
      refresh();
    },
  };
};

interface Removed {
  readonly of: StoredItem;
  readonly path: string;
  readonly mayEdit: boolean;
  readonly onClose: () => void;
}

const Change = ({ of: { id, version }, path, mayEdit, onClose }: Removed) => {
  const removal = removalOf(path);
  const [action] = useState(() => new Action(removal));
  const edit = mayEdit ? (
    <button type="button" class="plain" onClick={() => change({ edit: id })}>
      Edit
    </button>
  ) : null;
  if (!isPermitted(removal))
    return (
      <div class="act">
        {edit}
        <p class="soft">{explainDenial(removal, mayEdit ? 'Deletion' : 'Editing')}</p>
      </div>
    );
  return (
    <RemovalForm
      action={action}
      labels={['Delete', 'Delete permanently']}
      remove={() => action.run({ params: { id }, ifMatch: version })}
      onRemoved={onClose}
    >
      {edit}
    </RemovalForm>
  );
};

interface Opening<Item> {
  readonly noun: string;
  /** Path of one resource, with its id */
  readonly path: `${string}/{id}`;
  /** Call that edits it, if its permissions differ from deletion */
  readonly edit?: AnyCall;
  readonly Form: ComponentType<{ readonly before: Item | undefined }>;
  readonly Details: ComponentType<{ readonly item: Item }>;
}

/** The URL identifies the open resource (`open`), and whether it is edited (`open=new`, `edit`). */
export const openedOf = <Item extends StoredItem>({
  noun,
  path,
  edit = { method: 'DELETE', path },
  Form,
  Details,
}: Opening<Item>): ComponentType<{
  readonly id: string;
  readonly item: Item | undefined;
  readonly onClose: () => void;
}> => {
  const label = `${noun.slice(0, 1).toUpperCase()}${noun.slice(1)}`;
  const One = ({ item, onClose }: { readonly item: Item; readonly onClose: () => void }) => (
    <SidePanel label={label} title={item.name} onClose={onClose}>
      {inAddress('edit') === item.id && isPermitted(edit) ? (
        <Form key={`${item.id} ${item.version}`} before={item} />
      ) : (
        <>
          <Change
            key={`${item.id} ${item.version}`}
            of={item}
            path={path}
            mayEdit={isPermitted(edit)}
            onClose={onClose}
          />
          <Details item={item} />
        </>
      )}
    </SidePanel>
  );
  return ({ id, item, onClose }) => {
    const close = (): void => {
      change({ edit: '' });
      onClose();
    };
    if (id === 'new')
      return (
        <SidePanel label={label} title={`New ${noun}`} onClose={close}>
          <Form before={undefined} />
        </SidePanel>
      );
    if (item !== undefined) return <One item={item} onClose={close} />;
    return (
      <ReadOne call={readingOf(path)} id={id} label={label} onClose={close}>
        {(found) => <One item={found as Item} onClose={close} />}
      </ReadOne>
    );
  };
};

/** Button that creates a resource. */
export const writeOf =
  (noun: string, create: AnyCall): ComponentType =>
  () =>
    isPermitted(create) ? (
      <button type="button" class="plain" onClick={() => change({ open: 'new' })}>
        New {noun}
      </button>
    ) : null;
