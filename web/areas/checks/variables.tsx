/**
 * Variables of checks: their values, the checks that use them, editing and deletion. Values of secrets are never
 * displayed.
 */
import { useState } from 'preact/hooks';
import { Action } from '../../client/action.ts';
import { createNewButton, createProblemFinder } from '../../editors/form-state.tsx';
import { CheckInput, ListInput, MultilineInput, TextInput } from '../../editors/inputs.tsx';
import { RemovalForm } from '../../editors/removal.tsx';
import { readParam, setParams, toArea } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoMinute, formatIsoTime } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { explainDenial, isPermitted } from '../../frame/rights.ts';
import { refresh } from '../../frame/time-range.ts';
import { createListView } from '../../lists/declared-list.tsx';
import { Fields, SidePanel } from '../../lists/side-panel.tsx';
import { deleteVariableCall, setVariableCall, type Variable, variablesCall } from './calls.ts';

const identity = (text: string): string => text;

/**
 * Edits a variable; without one, creates a new variable. A stored secret is masked, and submitting the mask preserves
 * it.
 */
const VariableForm = ({ storedVariable }: { readonly storedVariable: Variable | undefined }) => {
  const [action] = useState(() => new Action(setVariableCall));
  const [name, setName] = useState(storedVariable?.name ?? '');
  const [fields, setFields] = useState({
    value: storedVariable?.value ?? '',
    isSecret: storedVariable?.isSecret ?? false,
    hosts: storedVariable?.hosts ?? [],
    description: storedVariable?.description ?? '',
  });
  const error = action.error.value;
  const updateFields = (changedFields: Partial<typeof fields>): void =>
    setFields((currentFields) => ({ ...currentFields, ...changedFields }));
  const saveVariable = async (): Promise<void> => {
    const hosts = fields.isSecret ? fields.hosts : [];
    const savedVariable = await action.run({ params: { name: name.trim() }, body: { ...fields, hosts } });
    if (savedVariable === undefined) return;
    setParams({ open: savedVariable.name, edit: '' });
    refresh();
  };
  return (
    <div class="form">
      {storedVariable === undefined ? (
        <TextInput
          label="Name"
          hint="Letters, digits, _ and -. Checks use {{variables.NAME}}"
          maxLength={64}
          value={name}
          problem={createProblemFinder(error)('name')}
          onChange={setName}
        />
      ) : null}
      <MultilineInput
        label="Value"
        hint={
          storedVariable?.isSecret === true ? 'The secret is hidden. An unchanged field keeps the stored secret.' : ''
        }
        value={fields.value}
        problem={createProblemFinder(error)('value')}
        onChange={(value) => updateFields({ value })}
      />
      <CheckInput
        label="Secret (never shown again)"
        value={fields.isSecret}
        onChange={(isSecret) => updateFields({ isSecret })}
      />
      {fields.isSecret ? (
        <ListInput
          label="Allowed hosts"
          hint="shop.example, *.shop.example"
          value={fields.hosts}
          problem={createProblemFinder(error)('hosts')}
          parseItem={identity}
          formatItem={identity}
          onChange={(hosts) => updateFields({ hosts: [...hosts] })}
        />
      ) : null}
      <TextInput
        label="Description"
        maxLength={4096}
        value={fields.description}
        problem={createProblemFinder(error)('description')}
        onChange={(description) => updateFields({ description })}
      />
      <div class="act">
        <button
          type="button"
          disabled={action.isRunning.value || name.trim() === ''}
          onClick={() => void saveVariable()}
        >
          {storedVariable === undefined ? 'Create variable' : 'Save variable'}
        </button>
        <ErrorMessage error={error} />
      </div>
    </div>
  );
};

const VariableActions = ({ name, onClose }: { readonly name: string; readonly onClose: () => void }) => {
  const [action] = useState(() => new Action(deleteVariableCall));
  if (!isPermitted(deleteVariableCall))
    return <p class="soft">{explainDenial(deleteVariableCall, 'Editing variables')}</p>;
  return (
    <RemovalForm
      action={action}
      labels={['Delete', `Delete “${name}”`]}
      remove={() => action.run({ params: { name } })}
      onRemoved={onClose}
    >
      <button type="button" class="plain" onClick={() => setParams({ edit: name })}>
        Edit
      </button>
    </RemovalForm>
  );
};

const VariableDetails = ({ variable, onClose }: { readonly variable: Variable; readonly onClose: () => void }) => (
  <>
    <VariableActions name={variable.name} onClose={onClose} />
    <Fields
      values={{
        description: variable.description,
        value: variable.isSecret ? 'secret' : variable.value,
        'allowed hosts': variable.hosts.join(', '),
        updated: formatIsoTime(variable.updatedAt),
      }}
    />
    <h3>Used by checks</h3>
    {variable.checks.length === 0 ? <p class="soft">None.</p> : null}
    <ul class="links column">
      {variable.checks.map((check) => (
        <li key={check.id}>
          <Link url={toArea('/checks', { open: check.id })}>{renderText(check.name)}</Link>
        </li>
      ))}
    </ul>
  </>
);

const resourceName = 'variable';

const VariablePanel = ({
  id,
  item,
  onClose,
}: {
  readonly id: string;
  readonly item: Variable | undefined;
  readonly onClose: () => void;
}) => {
  const close = (): void => {
    setParams({ edit: '' });
    onClose();
  };
  const isNew = id === 'new' && item === undefined;
  return (
    <SidePanel label="Variable" title={isNew ? 'New variable' : id} onClose={close}>
      {isNew ? (
        <VariableForm storedVariable={undefined} />
      ) : item === undefined ? (
        <p>This variable does not exist.</p>
      ) : readParam('edit') === id && isPermitted(setVariableCall) ? (
        <VariableForm key={item.updatedAt} storedVariable={item} />
      ) : (
        <VariableDetails variable={item} onClose={close} />
      )}
    </SidePanel>
  );
};

export const Variables = createListView({
  title: 'Variables',
  call: variablesCall,
  fixedParams: { limit: '' },
  emptyText: 'No variables yet.',
  toKey: ({ name }) => name,
  columns: {
    Name: ({ name }) => name,
    Value: ({ isSecret, value }) => (isSecret ? <span class="soft">secret</span> : value),
    'Allowed hosts': ({ hosts }) => hosts.join(', '),
    Checks: ({ checks }) => checks.length,
    Updated: ({ updatedAt }) => formatIsoMinute(updatedAt),
  },
  wideColumns: ['Value', 'Allowed hosts', 'Checks'],
  numericColumns: ['Checks'],
  Tools: createNewButton(resourceName, setVariableCall),
  ItemPanel: VariablePanel,
});
