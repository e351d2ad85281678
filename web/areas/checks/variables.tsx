/**
 * Variables of checks: their values, the checks that use them, editing and deletion. Values of secrets are never
 * displayed.
 */
import { useState } from 'preact/hooks';
import { Action } from '../../client/action.ts';
import { writeOf, wrongIn } from '../../editors/form-state.tsx';
import { CheckInput, LinesInput, ListInput, TextInput } from '../../editors/inputs.tsx';
import { RemovalForm } from '../../editors/removal.tsx';
import { change, inAddress, toArea } from '../../frame/address.ts';
import { Problem } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { explainDenial, isPermitted } from '../../frame/rights.ts';
import { shownText } from '../../frame/shown-text.tsx';
import { shownMoment } from '../../frame/shown-time.ts';
import { refresh } from '../../frame/time-range.ts';
import { listed } from '../../lists/declared-list.tsx';
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
  const set = (changed: Partial<typeof fields>): void => setFields((now) => ({ ...now, ...changed }));
  const save = async (): Promise<void> => {
    const hosts = fields.isSecret ? fields.hosts : [];
    const saved = await action.run({ params: { name: name.trim() }, body: { ...fields, hosts } });
    if (saved === undefined) return;
    change({ open: saved.name, edit: '' });
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
          problem={wrongIn(error)('name')}
          onChange={setName}
        />
      ) : null}
      <LinesInput
        label="Value"
        hint={
          storedVariable?.isSecret === true ? 'The secret is hidden. An unchanged field keeps the stored secret.' : ''
        }
        value={fields.value}
        problem={wrongIn(error)('value')}
        onChange={(value) => set({ value })}
      />
      <CheckInput
        label="Secret (never shown again)"
        value={fields.isSecret}
        onChange={(isSecret) => set({ isSecret })}
      />
      {fields.isSecret ? (
        <ListInput
          label="Allowed hosts"
          hint="shop.example, *.shop.example"
          value={fields.hosts}
          problem={wrongIn(error)('hosts')}
          read={identity}
          write={identity}
          onChange={(hosts) => set({ hosts: [...hosts] })}
        />
      ) : null}
      <TextInput
        label="Description"
        maxLength={4096}
        value={fields.description}
        problem={wrongIn(error)('description')}
        onChange={(description) => set({ description })}
      />
      <div class="act">
        <button type="button" disabled={action.isRunning.value || name.trim() === ''} onClick={() => void save()}>
          {storedVariable === undefined ? 'Create variable' : 'Save variable'}
        </button>
        <Problem error={error} />
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
      labels={['Delete', 'Delete permanently']}
      remove={() => action.run({ params: { name } })}
      onRemoved={onClose}
    >
      <button type="button" class="plain" onClick={() => change({ edit: name })}>
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
        updated: shownMoment(variable.updatedAt),
      }}
    />
    <h3>Used by checks</h3>
    {variable.checks.length === 0 ? <p class="soft">None.</p> : null}
    <ul class="links column">
      {variable.checks.map((check) => (
        <li key={check.id}>
          <Link to={toArea('/checks', { open: check.id })}>{shownText(check.name)}</Link>
        </li>
      ))}
    </ul>
  </>
);

const noun = 'variable';

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
    change({ edit: '' });
    onClose();
  };
  const isNew = id === 'new' && item === undefined;
  return (
    <SidePanel label="Variable" title={isNew ? 'New variable' : id} onClose={close}>
      {isNew ? (
        <VariableForm storedVariable={undefined} />
      ) : item === undefined ? (
        <p>This variable does not exist.</p>
      ) : inAddress('edit') === id && isPermitted(setVariableCall) ? (
        <VariableForm key={item.updatedAt} storedVariable={item} />
      ) : (
        <VariableDetails variable={item} onClose={close} />
      )}
    </SidePanel>
  );
};

export const Variables = listed({
  title: 'Variables',
  call: variablesCall,
  sent: { limit: '' },
  nothing: 'No variables yet.',
  keyOf: ({ name }) => name,
  columns: {
    Name: ({ name }) => name,
    Value: ({ isSecret, value }) => (isSecret ? <span class="soft">secret</span> : value),
    'Allowed hosts': ({ hosts }) => hosts.join(', '),
    Checks: ({ checks }) => checks.length,
    Updated: ({ updatedAt }) => shownMoment(updatedAt).slice(0, 16),
  },
  numbers: ['Checks'],
  Tools: writeOf(noun, setVariableCall),
  Open: VariablePanel,
});
