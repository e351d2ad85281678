/** The organization: its name, zone of time, and how long records are kept. */
import { useState } from 'preact/hooks';
import type { getAccount, patchAccount } from '../../../api/groups/users/account.ts';
import type { getRetention, putRetention } from '../../../api/groups/users/retention.ts';
import { Action } from '../../client/action.ts';
import { type Answered, callOf } from '../../client/call.ts';
import { ActionForm } from '../../frame/action-form.tsx';
import { useAsked } from '../../frame/asked.ts';
import { Problem } from '../../frame/standing.tsx';
import { refresh } from '../../frame/time-range.ts';
import { Scrolled } from '../../lists/scrolled.tsx';

type Account = Answered<typeof getAccount>;
type Retention = Answered<typeof getRetention>;
const signals = ['logs', 'metrics', 'traces'] as const;

const Name = ({ account }: { readonly account: Account }) => {
  const [action] = useState(() => new Action(callOf<typeof patchAccount>('PATCH', '/api/account')));
  const run = async (form: HTMLFormElement): Promise<void> => {
    const said = new FormData(form);
    const body = { name: String(said.get('name')), timeZone: String(said.get('timeZone')) };
    if ((await action.run({ body, ifMatch: account.version })) !== undefined) refresh();
  };
  return (
    <ActionForm action={action} label="Save" onSubmit={run}>
      <label>
        Name <input name="name" required={true} maxLength={256} defaultValue={account.name} autocomplete="off" />
      </label>
      <label>
        Zone of time <input name="timeZone" required={true} defaultValue={account.timeZone} autocomplete="off" />
      </label>
    </ActionForm>
  );
};

const Kept = ({ retention }: { readonly retention: Retention }) => {
  const [action] = useState(() => new Action(callOf<typeof putRetention>('PUT', '/api/account/retention')));
  const run = async (form: HTMLFormElement): Promise<void> => {
    const said = new FormData(form);
    const of = (name: string): number | null => {
      const text = String(said.get(name)).trim();
      return text === '' ? null : Number(text);
    };
    const days = { logs: of('logs'), metrics: of('metrics'), traces: of('traces') };
    if ((await action.run({ body: { days } })) !== undefined) refresh();
  };
  return (
    <ActionForm action={action} label="Keep so long" onSubmit={run}>
      {signals.map((signal) => (
        <label key={signal}>
          Days of {signal}, at most {retention.plan[signal]}{' '}
          <input
            name={signal}
            type="number"
            min={1}
            max={retention.plan[signal]}
            defaultValue={String(retention.days[signal] ?? '')}
            placeholder={String(retention.plan[signal])}
          />
        </label>
      ))}
    </ActionForm>
  );
};

export const Organization = () => {
  const known = useAsked(callOf<typeof getAccount>('GET', '/api/account'), {});
  const kept = useAsked(callOf<typeof getRetention>('GET', '/api/account/retention'), {});
  return (
    <Scrolled class="scrolled" label="Organization">
      <h2>Organization</h2>
      <Problem error={known.error} />
      {known.answer === undefined ? null : <Name key={known.answer.version} account={known.answer} />}
      <h2>How long records are kept</h2>
      <Problem error={kept.error} />
      {kept.answer === undefined ? null : <Kept key={JSON.stringify(kept.answer)} retention={kept.answer} />}
    </Scrolled>
  );
};
