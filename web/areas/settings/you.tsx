/** Sign-in settings: password, second factor, sessions, and organizations */
import { useState } from 'preact/hooks';
import type {
  confirmMultiFactor,
  enrollMultiFactor,
  renewRecoveryCodes,
  turnMultiFactorOff,
} from '../../../api/groups/authentication/multi-factor.ts';
import type { changePassword } from '../../../api/groups/authentication/password.ts';
import type { endSession, listSessions } from '../../../api/groups/authentication/sessions.ts';
import { Action } from '../../client/action.ts';
import { type Answered, callOf } from '../../client/call.ts';
import { ActionForm } from '../../frame/action-form.tsx';
import { Freshness, Problem } from '../../frame/freshness.tsx';
import { session } from '../../frame/session.ts';
import { shownText } from '../../frame/shown-text.tsx';
import { shownMoment } from '../../frame/shown-time.ts';
import { refresh } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { Scrolled } from '../../lists/scrolled.tsx';
import { Organizations } from './organizations.tsx';

const passwordCall = callOf<typeof changePassword>('POST', '/auth/change-password');
const enrollCall = callOf<typeof enrollMultiFactor>('POST', '/auth/mfa/enroll');
const confirmCall = callOf<typeof confirmMultiFactor>('POST', '/auth/mfa/confirm');
const renewCall = callOf<typeof renewRecoveryCodes>('POST', '/auth/mfa/recovery-codes');
const turnOffCall = callOf<typeof turnMultiFactorOff>('DELETE', '/auth/mfa');
const sessionsCall = callOf<typeof listSessions>('GET', '/auth/sessions');
const endCall = callOf<typeof endSession>('DELETE', '/auth/sessions/{id}');

/** Returns the typed values without empty ones. */
const typedIn = (form: HTMLFormElement): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...new FormData(form)].map(([name, value]) => [name, String(value)]).filter(([, value]) => value),
  );

const Secret = ({
  label,
  name,
  isNew = false,
}: {
  readonly label: string;
  readonly name: string;
  readonly isNew?: boolean;
}) => (
  <label>
    {label}{' '}
    <input
      type="password"
      name={name}
      required={true}
      maxLength={1024}
      autocomplete={isNew ? 'new-password' : 'current-password'}
    />
  </label>
);

const Code = ({ label, isRequired = true }: { readonly label: string; readonly isRequired?: boolean }) => (
  <label>
    {label} <input name="code" required={isRequired} maxLength={32} autocomplete="one-time-code" spellcheck={false} />
  </label>
);

const Password = () => {
  const [action] = useState(() => new Action(passwordCall));
  const [message, setMessage] = useState('');
  const run = async (form: HTMLFormElement): Promise<void> => {
    setMessage('');
    const { currentPassword = '', newPassword = '', code } = typedIn(form);
    const body = { currentPassword, newPassword, ...(code === undefined ? {} : { code }) };
    const answer = await action.run({ body });
    if (answer === undefined) return;
    form.reset();
    setMessage(`The password was changed. Other sessions ended: ${answer.endedSessions}.`);
    refresh();
  };
  return (
    <ActionForm action={action} label="Change password" onSubmit={run} message={message}>
      {/* So that password managers can identify the account. */}
      <input hidden={true} autocomplete="username" readOnly={true} value={session.value?.user.email} />
      <Secret label="Your password" name="currentPassword" />
      <Secret label="New password" name="newPassword" isNew={true} />
      <Code label="Code (if two-factor authentication is on)" isRequired={false} />
    </ActionForm>
  );
};

const RecoveryCodes = ({ codes }: { readonly codes: readonly string[] }) => (
  <div role="status">
    <p>
      Two-factor authentication is on. Each recovery code replaces the authenticator once. The codes are shown only
      once:
    </p>
    <ul>
      {codes.map((code) => (
        <li key={code}>
          <code>{code}</code>
        </li>
      ))}
    </ul>
  </div>
);

const SetUp = () => {
  const [enrolling] = useState(() => new Action(enrollCall));
  const [confirming] = useState(() => new Action(confirmCall));
  const [enrolled, setEnrolled] = useState<Answered<typeof enrollMultiFactor>>();
  const [codes, setCodes] = useState<readonly string[]>();
  if (codes !== undefined) return <RecoveryCodes codes={codes} />;
  if (enrolled === undefined)
    return (
      <ActionForm
        action={enrolling}
        label="Set up two-factor authentication"
        onSubmit={async () => setEnrolled(await enrolling.run({}))}
      >
        <p>Use an authenticator app on your phone, which shows a new code every 30 seconds.</p>
      </ActionForm>
    );
  const confirm = async (form: HTMLFormElement): Promise<void> => {
    const { code = '' } = typedIn(form);
    setCodes((await confirming.run({ body: { code, endOtherSessions: true } }))?.recoveryCodes);
  };
  return (
    <>
      <p>
        Scan this QR code with the app, or enter <code>{enrolled.secret}</code> in the app.
      </p>
      <img class="qr" src={enrolled.qrCode} alt="QR code of the secret" />
      <ActionForm action={confirming} label="Turn on" onSubmit={confirm}>
        <Code label="Code from the app" />
      </ActionForm>
    </>
  );
};

const MultiFactorSettings = () => {
  const [renewing] = useState(() => new Action(renewCall));
  const [disabling] = useState(() => new Action(turnOffCall));
  const [codes, setCodes] = useState<readonly string[]>();
  const [message, setMessage] = useState('');
  const renew = async (form: HTMLFormElement): Promise<void> => {
    const { code = '' } = typedIn(form);
    setCodes((await renewing.run({ body: { code } }))?.recoveryCodes);
  };
  const turnOff = async (form: HTMLFormElement): Promise<void> => {
    const { code = '', password = '' } = typedIn(form);
    if ((await disabling.run({ body: { code, password } })) !== undefined)
      setMessage('Two-factor authentication is off.');
    form.reset();
  };
  return (
    <details>
      <summary>Manage two-factor authentication</summary>
      <ActionForm action={renewing} label="Create new recovery codes" onSubmit={renew}>
        <Code label="Code to create recovery codes" />
      </ActionForm>
      {codes === undefined ? null : <RecoveryCodes codes={codes} />}
      <ActionForm action={disabling} label="Turn off" onSubmit={turnOff} message={message}>
        <Secret label="Password to turn off" name="password" />
        <Code label="Code to turn off" />
      </ActionForm>
    </details>
  );
};

type SignedIn = Answered<typeof listSessions>['items'][number];

const End = ({ of: { id, lastUsedAt } }: { readonly of: SignedIn }) => {
  const [action] = useState(() => new Action(endCall));
  const end = async (): Promise<void> => {
    if ((await action.run({ params: { id } })) !== undefined) refresh();
  };
  return (
    <>
      <button type="button" class="plain" disabled={action.isRunning.value} onClick={() => void end()}>
        End session<span class="sr-only"> last used {shownMoment(lastUsedAt)}</span>
      </button>
      <Problem error={action.error.value} />
    </>
  );
};

const Sessions = ({ items }: { readonly items: readonly SignedIn[] }) => (
  <ul class="sessions">
    {items.map((one) => (
      <li key={one.id}>
        <bdi>{shownText(one.userAgent)}</bdi> from {one.address}, in <bdi>{shownText(one.tenant.name)}</bdi>, started{' '}
        {shownMoment(one.createdAt).slice(0, 16)}, last used {shownMoment(one.lastUsedAt).slice(0, 16)}:{' '}
        {one.current ? <b>current session</b> : <End of={one} />}
      </li>
    ))}
  </ul>
);

export const You = () => {
  const queryState = useQuery(sessionsCall, { query: {} });
  return (
    <>
      <Scrolled class="scrolled" label="Security">
        <h2>Password</h2>
        <Password />
        <h2>Two-factor authentication</h2>
        <SetUp />
        <MultiFactorSettings />
        <h2>Active sessions</h2>
        <Problem error={queryState.error} />
        <Sessions items={queryState.answer?.items ?? []} />
        <Organizations />
      </Scrolled>
      <Freshness of={queryState} />
    </>
  );
};
