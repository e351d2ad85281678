/** Keeps what is searched for: as a saved query, or as a rule that tells when there is too much of it. */
import { useState } from 'preact/hooks';
import { Action } from '../../client/action.ts';
import { ActionForm } from '../../frame/action-form.tsx';
import { toArea } from '../../frame/address.ts';
import { Link } from '../../frame/link.tsx';
import { projectScope } from '../../frame/project.ts';
import { writtenRange } from '../../frame/time-range.ts';
import { ruleCall, savedQueryCall } from './calls.ts';
import { columns, search } from './log-search.ts';

const usualFields = ['timestamp', 'severity', 'service', 'body'];

/** Which records a question is of, as a `Query` says it. */
const recordsOf = () => {
  const scope = projectScope.peek();
  return {
    signal: 'logs' as const,
    ...(search.peek() === '' ? {} : { search: search.peek() }),
    ...('projectId' in scope ? { projectId: scope.projectId } : {}),
  };
};

export const SaveQuery = () => {
  const [action] = useState(() => new Action(savedQueryCall));
  const [said, setSaid] = useState<string>();
  const run = async (form: HTMLFormElement): Promise<void> => {
    const given = new FormData(form);
    const saved = await action.run({
      body: {
        name: String(given.get('name')),
        visibility: given.get('private') === 'on' ? 'private' : 'organization',
        ...writtenRange.peek(),
        query: { kind: 'rows', ...recordsOf(), fields: [...usualFields, ...columns.peek()] },
      },
    });
    setSaid(saved === undefined ? undefined : `Saved as “${saved.name}”. Ctrl K finds it.`);
  };
  return (
    <ActionForm action={action} label="Save the search" onSubmit={run} {...(said === undefined ? {} : { said })}>
      <label>
        Name <input name="name" required={true} maxLength={256} autocomplete="off" />
      </label>
      <label>
        <input type="checkbox" name="private" /> only for me
      </label>
    </ActionForm>
  );
};

export const MakeRule = () => {
  const [action] = useState(() => new Action(ruleCall));
  const [made, setMade] = useState<{ readonly id: string; readonly name: string }>();
  const run = async (form: HTMLFormElement): Promise<void> => {
    const given = new FormData(form);
    const rule = await action.run({
      body: {
        name: String(given.get('name')),
        condition: {
          kind: 'threshold',
          query: { kind: 'aggregate', ...recordsOf(), measures: [{ function: 'count' }] },
          window: String(given.get('window')),
          thresholds: [
            {
              severity: given.get('severity') === 'critical' ? 'critical' : 'warning',
              operator: 'above',
              value: Number(given.get('value')),
            },
          ],
        },
      },
    });
    setMade(rule);
  };
  return (
    <>
      <ActionForm action={action} label="Make the rule" onSubmit={run}>
        <label>
          Name <input name="name" required={true} maxLength={256} autocomplete="off" />
        </label>
        <label>
          Fires above <input name="value" type="number" min={0} required={true} defaultValue="10" /> records
        </label>
        <label>
          in{' '}
          <select name="window">
            {['1m', '5m', '15m', '1h', '1d'].map((window) => (
              <option key={window} selected={window === '5m'}>
                {window}
              </option>
            ))}
          </select>
        </label>
        <label>
          as{' '}
          <select name="severity">
            <option>warning</option>
            <option>critical</option>
          </select>
        </label>
      </ActionForm>
      {made === undefined ? null : (
        <p role="status">
          <Link to={toArea('/alerts/rules', { rule: made.id })}>Open the rule</Link>
        </p>
      )}
    </>
  );
};
