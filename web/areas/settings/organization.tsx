/** Organization settings: name, time zone, retention and deletion */
import { useState } from 'preact/hooks';
import type { closeAccount, getAccount, patchAccount } from '../../../api/groups/users/account.ts';
import type { getRetention, putRetention } from '../../../api/groups/users/retention.ts';
import { Action } from '../../client/action.ts';
import { declareCall, type ResponseBody } from '../../client/call.ts';
import { Card } from '../../components/card.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { Field } from '../../editors/field.tsx';
import { ActionForm } from '../../frame/action-form.tsx';
import { formatIsoMinute } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { isPermitted } from '../../frame/rights.ts';
import { refresh } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { ScrollRegion } from '../../lists/scroll-region.tsx';

type Account = ResponseBody<typeof getAccount>;
type Retention = ResponseBody<typeof getRetention>;
const closeCall = declareCall<typeof closeAccount>('DELETE', '/api/account');
const telemetrySignals = ['logs', 'metrics', 'traces'] as const;
const signalTitles = { logs: 'Logs', metrics: 'Metrics', traces: 'Traces' } as const;

const OrganizationForm = ({ account }: { readonly account: Account }) => {
  const [action] = useState(() => new Action(declareCall<typeof patchAccount>('PATCH', '/api/account')));
  const save = async (form: HTMLFormElement): Promise<void> => {
    const formData = new FormData(form);
    const body = { name: String(formData.get('name')), timeZone: String(formData.get('timeZone')) };
    if ((await action.run({ body, ifMatch: account.version })) !== undefined) refresh();
  };
  return (
    <ActionForm action={action} label="Save" onSubmit={save}>
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
  const [action] = useState(() => new Action(declareCall<typeof putRetention>('PUT', '/api/account/retention')));
  const save = async (form: HTMLFormElement): Promise<void> => {
    const formData = new FormData(form);
    const readDays = (name: string): number | null => {
      const text = String(formData.get(name)).trim();
      return text === '' ? null : Number(text);
    };
    const days = { logs: readDays('logs'), metrics: readDays('metrics'), traces: readDays('traces') };
    if ((await action.run({ body: { days } })) !== undefined) refresh();
  };
  return (
    <ActionForm action={action} label="Save retention" onSubmit={save}>
      {telemetrySignals.map((signal) => (
        <label key={signal}>
          {signalTitles[signal]}, in days (maximum {retention.plan[signal]}){' '}
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

/** Deletes the organization after the user has typed its name. Nobody can sign in to it afterwards. */
const DeleteOrganization = () => {
  const [action] = useState(() => new Action(closeCall));
  const [deletion, setDeletion] = useState<ResponseBody<typeof closeAccount>>();
  if (!isPermitted(closeCall)) return null;
  const nameProblem = action.error.value?.of('name');
  const deleteOrganization = async (form: HTMLFormElement): Promise<void> =>
    setDeletion(await action.run({ body: { name: String(new FormData(form).get('confirmation')) } }));
  if (deletion !== undefined)
    return (
      <p role="status">
        The organization was deleted. Its operator can restore it until {formatIsoMinute(deletion.eraseAt)}. After that,
        all its data is erased. <a href="/login">Sign in to another organization</a>
      </p>
    );
  return (
    <Card title="Delete organization">
      <p>
        Only an owner can delete the organization. All users lose access at once. The operator of this installation can
        restore it for 30 days; then all its data is erased.
      </p>
      <ActionForm action={action} label="Delete the organization" kind="danger" onSubmit={deleteOrganization}>
        <Field label="Organization name, as confirmation" problem={nameProblem}>
          <input name="confirmation" required={true} maxLength={256} autocomplete="off" spellcheck={false} />
        </Field>
      </ActionForm>
    </Card>
  );
};

export const Organization = () => {
  const accountQuery = useQuery(declareCall<typeof getAccount>('GET', '/api/account'), {});
  const retentionQuery = useQuery(declareCall<typeof getRetention>('GET', '/api/account/retention'), {});
  return (
    <ScrollRegion class="scrolled settings-cards" label="Organization">
      <Card title="General">
        <ErrorMessage error={accountQuery.error} />
        {accountQuery.response === undefined ? (
          <Skeleton height={130} />
        ) : (
          <OrganizationForm key={accountQuery.response.version} account={accountQuery.response} />
        )}
      </Card>
      <Card title="Retention">
        <ErrorMessage error={retentionQuery.error} />
        {retentionQuery.response === undefined ? (
          <Skeleton height={190} />
        ) : (
          <RetentionForm key={JSON.stringify(retentionQuery.response)} retention={retentionQuery.response} />
        )}
      </Card>
      <DeleteOrganization />
    </ScrollRegion>
  );
};
