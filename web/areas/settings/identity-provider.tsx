/** Form for the OpenID Connect provider with which users of the organization sign in */
import { useState } from 'preact/hooks';
import type { getIdentityProvider, setIdentityProvider } from '../../../api/groups/users/identity-provider.ts';
import { Action } from '../../client/action.ts';
import { type CallInput, declareCall, type ResponseBody } from '../../client/call.ts';
import { Field } from '../../editors/field.tsx';
import { CheckInput, ListInput, MultilineInput, RecordSelectInput, TextInput } from '../../editors/inputs.tsx';
import { parseLines } from '../../editors/lines.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoMinute } from '../../frame/format-time.ts';
import { ErrorMessage, Freshness } from '../../frame/freshness.tsx';
import { refresh } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { ScrollRegion } from '../../lists/scroll-region.tsx';
import { TableHeader } from '../../lists/table-header.tsx';

const readCall = declareCall<typeof getIdentityProvider>('GET', '/api/account/identity-provider');
const setCall = declareCall<typeof setIdentityProvider>('PUT', '/api/account/identity-provider');

type Provider = ResponseBody<typeof getIdentityProvider>;
type Role = NonNullable<Provider['defaultRole']>;
type Mapping = NonNullable<Provider['roleMapping']>;
type Body = NonNullable<CallInput<typeof setIdentityProvider>['body']>;

const roles: Readonly<Record<Role, string>> = {
  viewer: 'viewer',
  editor: 'editor',
  admin: 'admin',
  auditor: 'auditor',
};
const roleOptions = { '': 'No role (sign-in denied)', ...roles };

/** Values of the form fields; the request sends an empty text as `null` */
interface ProviderDraft {
  readonly enabled: boolean;
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scopes: readonly string[];
  readonly domains: string;
  readonly claim: string;
  readonly roles: Mapping['roles'];
  readonly defaultRole: Role | null;
}

const toDraft = ({ issuer, clientId, clientSecret, domains, roleMapping, ...fields }: Provider): ProviderDraft => ({
  enabled: fields.enabled,
  scopes: fields.scopes,
  defaultRole: fields.defaultRole,
  issuer: issuer ?? '',
  clientId: clientId ?? '',
  clientSecret: clientSecret ?? '',
  domains: domains.map(({ name }) => name).join('\n'),
  claim: roleMapping?.claim ?? '',
  roles: roleMapping?.roles ?? [],
});

const toNullIfEmpty = (text: string): string | null => (text.trim() === '' ? null : text.trim());

const toRequestBody = ({ enabled, scopes, domains, claim, roles, defaultRole, ...texts }: ProviderDraft): Body => ({
  enabled,
  scopes: [...scopes],
  defaultRole,
  issuer: toNullIfEmpty(texts.issuer),
  clientId: toNullIfEmpty(texts.clientId),
  clientSecret: toNullIfEmpty(texts.clientSecret),
  domains: parseLines(domains).map((name) => ({ name })),
  roleMapping: claim.trim() === '' && roles.length === 0 ? null : { claim: claim.trim(), roles: [...roles] },
});

interface FieldsetProps {
  readonly draft: ProviderDraft;
  readonly findProblem: (path: string) => string | undefined;
  readonly updateDraft: (fields: Partial<ProviderDraft>) => void;
}

const RoleMappingFields = ({ draft, findProblem, updateDraft }: FieldsetProps) => (
  <fieldset>
    <legend>Role mapping</legend>
    <TextInput
      label="Claim"
      value={draft.claim}
      problem={findProblem('roleMapping.claim')}
      hint="Claim of the ID token or userinfo response, such as groups. If empty, roles are assigned in OIQ."
      onChange={(claim) => updateDraft({ claim })}
    />
    {draft.roles.map(({ value, role }, index) => (
      // Values are not unique while the user types, so the key is the index.
      <div class="act" key={index}>
        <TextInput
          label="Claim value"
          value={value}
          problem={findProblem(`roleMapping.roles.${index}`)}
          onChange={(text) => updateDraft({ roles: draft.roles.with(index, { value: text, role }) })}
        />
        <RecordSelectInput
          label="Role"
          value={role}
          problem={undefined}
          options={roles}
          onChange={(selectedRole) => updateDraft({ roles: draft.roles.with(index, { value, role: selectedRole }) })}
        />
        <button type="button" class="plain" onClick={() => updateDraft({ roles: draft.roles.toSpliced(index, 1) })}>
          Remove<span class="sr-only"> {renderText(value)}</span>
        </button>
      </div>
    ))}
    <button
      type="button"
      class="plain"
      onClick={() => updateDraft({ roles: [...draft.roles, { value: '', role: 'viewer' }] })}
    >
      Add role
    </button>
    <RecordSelectInput<Role | ''>
      label="Default role of new users"
      value={draft.defaultRole ?? ''}
      problem={findProblem('defaultRole')}
      options={roleOptions}
      onChange={(chosen) => updateDraft({ defaultRole: chosen === '' ? null : chosen })}
    />
  </fieldset>
);

const ClientFields = ({ draft, findProblem, updateDraft }: FieldsetProps) => (
  <>
    <TextInput
      label="Issuer"
      maxLength={1024}
      value={draft.issuer}
      problem={findProblem('issuer')}
      hint="https://…, exactly as in the provider's configuration"
      onChange={(issuer) => updateDraft({ issuer })}
    />
    <TextInput
      label="Client id"
      maxLength={512}
      value={draft.clientId}
      problem={findProblem('clientId')}
      onChange={(clientId) => updateDraft({ clientId })}
    />
    <Field
      label="Client secret"
      problem={findProblem('clientSecret')}
      hint="Leave unchanged to keep the stored secret. Leave empty for a public client."
    >
      <input
        type="password"
        value={draft.clientSecret}
        maxLength={1024}
        autocomplete="new-password"
        aria-invalid={findProblem('clientSecret') !== undefined}
        onInput={({ currentTarget }) => updateDraft({ clientSecret: currentTarget.value })}
      />
    </Field>
    <ListInput
      label="Scopes"
      value={draft.scopes}
      problem={findProblem('scopes')}
      parseItem={(scope) => scope}
      formatItem={(scope) => scope}
      onChange={(scopes) => updateDraft({ scopes })}
    />
  </>
);

const Form = ({ savedProvider }: { readonly savedProvider: Provider }) => {
  const [action] = useState(() => new Action(setCall));
  const [draft, setDraft] = useState(() => toDraft(savedProvider));
  const error = action.error.value;
  const fieldsetProps: FieldsetProps = {
    draft,
    findProblem: (path) => error?.at(path),
    updateDraft: (fields) => setDraft((now) => ({ ...now, ...fields })),
  };
  const save = async (): Promise<void> => {
    const saved = await action.run({ body: toRequestBody(draft) });
    if (saved === undefined) return;
    setDraft(toDraft(saved));
    refresh();
  };
  return (
    <div class="form">
      <CheckInput
        label="Sign-in enabled"
        value={draft.enabled}
        onChange={(enabled) => fieldsetProps.updateDraft({ enabled })}
      />
      <ClientFields {...fieldsetProps} />
      <MultilineInput
        label="Email domains, one per line"
        hint="Users with an address of a verified domain can join without an invitation"
        value={draft.domains}
        problem={fieldsetProps.findProblem('domains')}
        onChange={(domains) => fieldsetProps.updateDraft({ domains })}
      />
      <RoleMappingFields {...fieldsetProps} />
      <div class="act">
        <button type="button" disabled={action.isRunning.value} onClick={() => void save()}>
          Save provider
        </button>
        <p class="soft">
          Domains are verified at each sign-in. If you disable the provider or change its issuer or client, all sessions
          that it started end.
        </p>
        <ErrorMessage error={error} />
      </div>
    </div>
  );
};

const DomainTable = ({ of }: { readonly of: Provider['domains'] }) =>
  of.length === 0 ? null : (
    <>
      <h2>Domain verification</h2>
      <p>A DNS record proves that you own a domain. After adding the record, save the provider again.</p>
      <ScrollRegion class="runs" label="Domain verification">
        <table class="figures texts">
          <TableHeader columns={['Domain', 'Verified', 'Record', 'Value']} />
          <tbody>
            {of.map(({ name, provedAt, record }) => (
              <tr key={name}>
                <td>{renderText(name)}</td>
                <td>{provedAt === null ? 'not yet' : formatIsoMinute(provedAt)}</td>
                <td>
                  {record.type} of {renderText(record.name)}
                </td>
                <td>
                  <code>{record.value}</code>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollRegion>
    </>
  );

export const IdentityProvider = () => {
  const queryState = useQuery(readCall, {});
  const { response, error } = queryState;
  return (
    <>
      <ScrollRegion class="scrolled" label="Identity provider">
        <h2>OpenID Connect</h2>
        <ErrorMessage error={error} />
        {response === undefined ? null : (
          <>
            <p>
              Register this redirect URL with the provider: <code>{response.redirectUri}</code>
            </p>
            <Form savedProvider={response} />
            <DomainTable of={response.domains} />
          </>
        )}
      </ScrollRegion>
      <Freshness queryState={queryState} />
    </>
  );
};
