/** Security settings of the user: password, two-factor authentication, sessions and organizations */
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
import { declareCall, type ResponseBody } from '../../client/call.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { ActionForm } from '../../frame/action-form.tsx';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoMinute, formatIsoTime } from '../../frame/format-time.ts';
import { ErrorMessage, Freshness } from '../../frame/freshness.tsx';
import { session } from '../../frame/session.ts';
import { refresh } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { ScrollRegion } from '../../lists/scroll-region.tsx';
import { Organizations } from './organizations.tsx';

const passwordCall = declareCall<typeof changePassword>('POST', '/auth/change-password');
const enrollCall = declareCall<typeof enrollMultiFactor>('POST', '/auth/mfa/enroll');
const confirmCall = declareCall<typeof confirmMultiFactor>('POST', '/auth/mfa/confirm');
const renewCall = declareCall<typeof renewRecoveryCodes>('POST', '/auth/mfa/recovery-codes');
const turnOffCall = declareCall<typeof turnMultiFactorOff>('DELETE', '/auth/mfa');
const sessionsCall = declareCall<typeof listSessions>('GET', '/auth/sessions');
const endCall = declareCall<typeof endSession>('DELETE', '/auth/sessions/{id}');

/** Returns the values of the form fields that are not empty. */
const readFilledFields = (form: HTMLFormElement): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...new FormData(form)].map(([name, value]) => [name, String(value)]).filter(([, value]) => value),
  );

const PasswordInput = ({
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

const CodeInput = ({ label, isRequired = true }: { readonly label: string; readonly isRequired?: boolean }) => (
  <label>
    {label} <input name="code" required={isRequired} maxLength={32} autocomplete="one-time-code" spellcheck={false} />
  </label>
);

const PasswordForm = () => {
  const [action] = useState(() => new Action(passwordCall));
  const [message, setMessage] = useState('');
  const savePassword = async (form: HTMLFormElement): Promise<void> => {
    setMessage('');
    const { currentPassword = '', newPassword = '', code } = readFilledFields(form);
    const body = { currentPassword, newPassword, ...(code === undefined ? {} : { code }) };
    const response = await action.run({ body });
    if (response === undefined) return;
    form.reset();
    setMessage(`The password was changed. Other sessions ended: ${response.endedSessions}.`);
    refresh();
  };
  return (
    <ActionForm action={action} label="Change password" onSubmit={savePassword} message={message}>
      {/* Password managers identify the account by this field. */}
      <input hidden={true} autocomplete="username" readOnly={true} value={session.value?.user.email} />
      <PasswordInput label="Your password" name="currentPassword" />
      <PasswordInput label="New password" name="newPassword" isNew={true} />
      <CodeInput label="Code (if two-factor authentication is on)" isRequired={false} />
    </ActionForm>
  );
};

const RecoveryCodes = ({ codes }: { readonly codes: readonly string[] }) => (
  <div role="status">
    <p>
      Two-factor authentication is on. You can use each recovery code once instead of the authenticator app. The codes
      are shown only once:
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

const EnrollmentForm = () => {
  const [enrollAction] = useState(() => new Action(enrollCall));
  const [confirmAction] = useState(() => new Action(confirmCall));
  const [enrollment, setEnrollment] = useState<ResponseBody<typeof enrollMultiFactor>>();
  const [codes, setCodes] = useState<readonly string[]>();
  if (codes !== undefined) return <RecoveryCodes codes={codes} />;
  if (enrollment === undefined)
    return (
      <ActionForm
        action={enrollAction}
        label="Set up two-factor authentication"
        onSubmit={async () => setEnrollment(await enrollAction.run({}))}
      >
        <p>Use an authenticator app on your phone, which shows a new code every 30 seconds.</p>
      </ActionForm>
    );
  const confirm = async (form: HTMLFormElement): Promise<void> => {
    const { code = '' } = readFilledFields(form);
    setCodes((await confirmAction.run({ body: { code, endOtherSessions: true } }))?.recoveryCodes);
  };
  return (
    <>
      <p>
        Scan this QR code with the app, or enter <code>{enrollment.secret}</code> in the app.
      </p>
      <img class="qr" src={enrollment.qrCode} alt="QR code of the secret" />
      <ActionForm action={confirmAction} label="Turn on" onSubmit={confirm}>
        <CodeInput label="Code from the app" />
      </ActionForm>
    </>
  );
};

const MultiFactorSettings = () => {
  const [renewAction] = useState(() => new Action(renewCall));
  const [turnOffAction] = useState(() => new Action(turnOffCall));
  const [codes, setCodes] = useState<readonly string[]>();
  const [message, setMessage] = useState('');
  const renew = async (form: HTMLFormElement): Promise<void> => {
    const { code = '' } = readFilledFields(form);
    setCodes((await renewAction.run({ body: { code } }))?.recoveryCodes);
  };
  const turnOff = async (form: HTMLFormElement): Promise<void> => {
    const { code = '', password = '' } = readFilledFields(form);
    if ((await turnOffAction.run({ body: { code, password } })) !== undefined)
      setMessage('Two-factor authentication is off.');
    form.reset();
  };
  return (
    <details>
      <summary>Manage two-factor authentication</summary>
      <ActionForm action={renewAction} label="Create new recovery codes" onSubmit={renew}>
        <CodeInput label="Code to create recovery codes" />
      </ActionForm>
      {codes === undefined ? null : <RecoveryCodes codes={codes} />}
      <ActionForm action={turnOffAction} label="Turn off" onSubmit={turnOff} message={message}>
        <PasswordInput label="Password to turn off" name="password" />
        <CodeInput label="Code to turn off" />
      </ActionForm>
    </details>
  );
};

type SignInSession = ResponseBody<typeof listSessions>['items'][number];

const EndSession = ({ signInSession: { id, lastUsedAt } }: { readonly signInSession: SignInSession }) => {
  const [action] = useState(() => new Action(endCall));
  const end = async (): Promise<void> => {
    if ((await action.run({ params: { id } })) !== undefined) refresh();
  };
  return (
    <>
      <Button disabled={action.isRunning.value} onClick={() => void end()}>
        End session<span class="sr-only"> last used {formatIsoTime(lastUsedAt)}</span>
      </Button>
      <ErrorMessage error={action.error.value} />
    </>
  );
};

const SessionList = ({ items }: { readonly items: readonly SignInSession[] }) => (
  <ul class="entries sessions">
    {items.map((item) => (
      <li key={item.id}>
        <div>
          <b data-tooltip={item.userAgent}>
            <bdi>{renderText(item.program)}</bdi>
          </b>
          <p class="soft">
            {item.address} · <bdi>{renderText(item.tenant.name)}</bdi> · started {formatIsoMinute(item.createdAt)} ·
            last used {formatIsoMinute(item.lastUsedAt)}
          </p>
        </div>
        {item.current ? <Badge tone="ok">Current session</Badge> : <EndSession signInSession={item} />}
      </li>
    ))}
  </ul>
);

export const SecuritySettings = () => {
  const queryState = useQuery(sessionsCall, { query: {} });
  return (
    <>
      <ScrollRegion class="scrolled settings-cards" label="Security">
        <Card title="Password">
          <PasswordForm />
        </Card>
        <Card title="Two-factor authentication">
          <EnrollmentForm />
          <MultiFactorSettings />
        </Card>
        <Card title="Active sessions">
          <ErrorMessage error={queryState.error} />
          <SessionList items={queryState.response?.items ?? []} />
        </Card>
        <Organizations />
      </ScrollRegion>
      <Freshness queryState={queryState} />
    </>
  );
};
