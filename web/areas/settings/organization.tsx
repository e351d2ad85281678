/** Organization settings: name, time zone, retention, and closing the organization */
import { useState } from 'preact/hooks';
import type { closeAccount, getAccount, patchAccount } from '../../../api/groups/users/account.ts';
import type { getRetention, putRetention } from '../../../api/groups/users/retention.ts';
import { Action } from '../../client/action.ts';
import { type Answered, callOf } from '../../client/call.ts';
import { Field } from '../../editors/field.tsx';
import { ActionForm } from '../../frame/action-form.tsx';
import { Problem } from '../../frame/freshness.tsx';
import { isPermitted } from '../../frame/rights.ts';
import { shownMoment } from '../../frame/shown-time.ts';
import { refresh } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { Scrolled } from '../../lists/scrolled.tsx';

type Account = Answered<typeof getAccount>;
type Retention = Answered<typeof getRetention>;
const closeCall = callOf<typeof closeAccount>('DELETE', '/api/account');
const signals = ['logs', 'metrics', 'traces'] as const;

const Name = ({ account }: { readonly account: Account }) => {
  const [action] = useState(() => new Action(callOf<typeof patchAccount>('PATCH', '/api/account')));
  const run = async (form: HTMLFormElement): Promise<void> => {
    const formData = new FormData(form);
    const body = { name: String(formData.get('name')), timeZone: String(formData.get('timeZone')) };
    if ((await action.run({ body, ifMatch: account.version })) !== undefined) refresh();
  };
  return (
    <ActionForm action={action} label="Save" onSubmit={run}>
      <label>
        Name <input name="name" required={true} maxLength={256} defaultValue={account.name} autocomplete="off" />
      </label>
      <label>
        Time zone <input name="timeZone" required={true} defaultValue={account.timeZone} autocomplete="off" />
      </label>
    </ActionForm>
  );
};

const RetentionForm = ({ retention }: { readonly retention: Retention }) => {
  const [action] = useState(() => new Action(callOf<typeof putRetention>('PUT', '/api/account/retention')));
  const run = async (form: HTMLFormElement): Promise<void> => {
    const formData = new FormData(form);
    const of = (name: string): number | null => {
      const text = String(formData.get(name)).trim();
      return text === '' ? null : Number(text);
    };
    const days = { logs: of('logs'), metrics: of('metrics'), traces: of('traces') };
    if ((await action.run({ body: { days } })) !== undefined) refresh();
  };
  return (
    <ActionForm action={action} label="Save retention" onSubmit={run}>
      {signals.map((signal) => (
        <label key={signal}>
          Days to retain {signal}, maximum {retention.plan[signal]}{' '}
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

/** Requires the name as a confirmation; nobody can sign in to the organization afterwards. */
const Close = () => {
  const [action] = useState(() => new Action(closeCall));
  const [closed, setClosed] = useState<Answered<typeof closeAccount>>();
  if (!isPermitted(closeCall)) return null;
  const atName = action.error.value?.of('name');
  const close = async (form: HTMLFormElement): Promise<void> =>
    setClosed(await action.run({ body: { name: String(new FormData(form).get('confirmation')) } }));
  if (closed !== undefined)
    return (
      <p role="status">
        The organization was deleted. Its operator can restore it until {shownMoment(closed.eraseAt).slice(0, 16)}; then
        all its data is erased. <a href="/login">Sign in to another organization</a>
      </p>
    );
  return (
    <>
      <h2>Delete organization</h2>
      <p>
        Only an owner can delete the organization. All users lose access at once. The operator of this installation can
        restore it for 30 days; then all its data is erased.
      </p>
      <ActionForm action={action} label="Delete the organization" onSubmit={close}>
        <Field label="Organization name, as confirmation" problem={atName}>
          <input name="confirmation" required={true} maxLength={256} autocomplete="off" spellcheck={false} />
        </Field>
      </ActionForm>
    </>
  );
};

export const Organization = () => {
  const known = useQuery(callOf<typeof getAccount>('GET', '/api/account'), {});
  const retention = useQuery(callOf<typeof getRetention>('GET', '/api/account/retention'), {});
  return (
    <Scrolled class="scrolled" label="Organization">
      <h2>Organization</h2>
      <Problem error={known.error} />
      {known.answer === undefined ? null : <Name key={known.answer.version} account={known.answer} />}
      <h2>Retention</h2>
      <Problem error={retention.error} />
      {retention.answer === undefined ? null : (
        <RetentionForm key={JSON.stringify(retention.answer)} retention={retention.answer} />
      )}
      <Close />
    </Scrolled>
  );
};
