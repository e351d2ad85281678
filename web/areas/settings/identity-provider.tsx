/** OpenID Connect provider for sign-in of the organization's users */
import { useState } from 'preact/hooks';
import type { getIdentityProvider, setIdentityProvider } from '../../../api/groups/users/identity-provider.ts';
import { Action } from '../../client/action.ts';
import { type Answered, callOf, type Sent } from '../../client/call.ts';
import { Field } from '../../editors/field.tsx';
import { CheckInput, ChoiceInput, LinesInput, ListInput, TextInput } from '../../editors/inputs.tsx';
import { linesIn } from '../../editors/lines.ts';
import { Freshness, Problem } from '../../frame/freshness.tsx';
import { shownText } from '../../frame/shown-text.tsx';
import { shownMoment } from '../../frame/shown-time.ts';
import { refresh } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { Scrolled } from '../../lists/scrolled.tsx';
import { TableHeader } from '../../lists/table-header.tsx';

const readCall = callOf<typeof getIdentityProvider>('GET', '/api/account/identity-provider');
const setCall = callOf<typeof setIdentityProvider>('PUT', '/api/account/identity-provider');

type Provider = Answered<typeof getIdentityProvider>;
type Role = NonNullable<Provider['defaultRole']>;
type Mapping = NonNullable<Provider['roleMapping']>;
type Body = NonNullable<Sent<typeof setIdentityProvider>['body']>;

const roles: Readonly<Record<Role, string>> = {
  viewer: 'viewer',
  editor: 'editor',
  admin: 'admin',
  auditor: 'auditor',
};
const orNone = { '': 'No role (sign-in denied)', ...roles };

/** Typed values; an empty field is `null` */
interface Written {
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

const writtenOf = ({ issuer, clientId, clientSecret, domains, roleMapping, ...fields }: Provider): Written => ({
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

const orNull = (text: string): string | null => (text.trim() === '' ? null : text.trim());

const bodyOf = ({ enabled, scopes, domains, claim, roles, defaultRole, ...texts }: Written): Body => ({
  enabled,
  scopes: [...scopes],
  defaultRole,
  issuer: orNull(texts.issuer),
  clientId: orNull(texts.clientId),
  clientSecret: orNull(texts.clientSecret),
  domains: linesIn(domains).map((name) => ({ name })),
  roleMapping: claim.trim() === '' && roles.length === 0 ? null : { claim: claim.trim(), roles: [...roles] },
});

interface Part {
  readonly written: Written;
  readonly wrong: (path: string) => string | undefined;
  readonly set: (fields: Partial<Written>) => void;
}

const Mapped = ({ written, wrong, set }: Part) => (
  <fieldset>
    <legend>Role mapping</legend>
    <TextInput
      label="Claim"
      value={written.claim}
      problem={wrong('roleMapping.claim')}
      hint="Claim of the ID token or userinfo, such as groups; if empty, assign roles in OIQ"
      onChange={(claim) => set({ claim })}
    />
    {written.roles.map(({ value, role }, index) => (
      // A value may occur twice while typing.
      <div class="act" key={index}>
        <TextInput
          label="Claim value"
          value={value}
          problem={wrong(`roleMapping.roles.${index}`)}
          onChange={(text) => set({ roles: written.roles.with(index, { value: text, role }) })}
        />
        <ChoiceInput
          label="Role"
          value={role}
          problem={undefined}
          options={roles}
          onChange={(chosen) => set({ roles: written.roles.with(index, { value, role: chosen }) })}
        />
        <button type="button" class="plain" onClick={() => set({ roles: written.roles.toSpliced(index, 1) })}>
          Remove<span class="sr-only"> {shownText(value)}</span>
        </button>
      </div>
    ))}
    <button
      type="button"
      class="plain"
      onClick={() => set({ roles: [...written.roles, { value: '', role: 'viewer' }] })}
    >
      Add role
    </button>
    <ChoiceInput<Role | ''>
      label="Default role of new users"
      value={written.defaultRole ?? ''}
      problem={wrong('defaultRole')}
      options={orNone}
      onChange={(chosen) => set({ defaultRole: chosen === '' ? null : chosen })}
    />
  </fieldset>
);

const Client = ({ written, wrong, set }: Part) => (
  <>
    <TextInput
      label="Issuer"
      maxLength={1024}
      value={written.issuer}
      problem={wrong('issuer')}
      hint="https://…, exactly as the provider spells it"
      onChange={(issuer) => set({ issuer })}
    />
    <TextInput
      label="Client id"
      maxLength={512}
      value={written.clientId}
      problem={wrong('clientId')}
      onChange={(clientId) => set({ clientId })}
    />
    <Field
      label="Client secret"
      problem={wrong('clientSecret')}
      hint="If unchanged, the stored secret is used; if empty, the client is public"
    >
      <input
        type="password"
        value={written.clientSecret}
        maxLength={1024}
        autocomplete="new-password"
        aria-invalid={wrong('clientSecret') !== undefined}
        onInput={({ currentTarget }) => set({ clientSecret: currentTarget.value })}
      />
    </Field>
    <ListInput
      label="Scopes"
      value={written.scopes}
      problem={wrong('scopes')}
      read={(scope) => scope}
      write={(scope) => scope}
      onChange={(scopes) => set({ scopes })}
    />
  </>
);

const Form = ({ before }: { readonly before: Provider }) => {
  const [action] = useState(() => new Action(setCall));
  const [written, setWritten] = useState(() => writtenOf(before));
  const error = action.error.value;
  const part: Part = {
    written,
    wrong: (path) => error?.at(path),
    set: (fields) => setWritten((now) => ({ ...now, ...fields })),
  };
  const save = async (): Promise<void> => {
    const saved = await action.run({ body: bodyOf(written) });
    if (saved === undefined) return;
    setWritten(writtenOf(saved));
    refresh();
  };
  return (
    <div class="form">
      <CheckInput label="Sign-in enabled" value={written.enabled} onChange={(enabled) => part.set({ enabled })} />
      <Client {...part} />
      <LinesInput
        label="Email domains, one per line"
        hint="Users with an address of a verified domain can join without an invitation"
        value={written.domains}
        problem={part.wrong('domains')}
        onChange={(domains) => part.set({ domains })}
      />
      <Mapped {...part} />
      <div class="act">
        <button type="button" disabled={action.isRunning.value} onClick={() => void save()}>
          Save provider
        </button>
        <p class="soft">
          Domains are verified at each sign-in. Disabling the provider, or changing its issuer or client, ends its
          sessions.
        </p>
        <Problem error={error} />
      </div>
    </div>
  );
};

const Domains = ({ of }: { readonly of: Provider['domains'] }) =>
  of.length === 0 ? null : (
    <>
      <h2>Domain verification</h2>
      <p>A DNS record proves that you own a domain. After adding the record, save the provider again.</p>
      <Scrolled class="runs" label="Domain verification">
        <table class="figures texts">
          <TableHeader columns={['Domain', 'Verified', 'Record', 'Value']} />
          <tbody>
            {of.map(({ name, provedAt, record }) => (
              <tr key={name}>
                <td>{shownText(name)}</td>
                <td>{provedAt === null ? 'not yet' : shownMoment(provedAt).slice(0, 16)}</td>
                <td>
                  {record.type} of {shownText(record.name)}
                </td>
                <td>
                  <code>{record.value}</code>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scrolled>
    </>
  );

export const IdentityProvider = () => {
  const queryState = useQuery(readCall, {});
  const { answer, error } = queryState;
  return (
    <>
      <Scrolled class="scrolled" label="Identity provider">
        <h2>OpenID Connect</h2>
        <Problem error={error} />
        {answer === undefined ? null : (
          <>
            <p>
              Register this redirect URL with the provider: <code>{answer.redirectUri}</code>
            </p>
            <Form before={answer} />
            <Domains of={answer.domains} />
          </>
        )}
      </Scrolled>
      <Freshness of={queryState} />
    </>
  );
};
